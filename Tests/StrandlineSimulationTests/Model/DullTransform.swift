import StrandlineProtocol

/// Transforms once more, for the cells that the simulation writes: whole numbers and arrays of texts.
enum DullTransform {
  static func apply(_ transforms: [String: Transform], to columns: inout [String: Value]) {
    for (column, transform) in transforms {
      switch transform {
      case .increment(let by):
        var sum = Int64(by.description) ?? 0
        if case .int(let number)? = columns[column] { sum += number }
        columns[column] = .int(sum)
      case .arrayUnion(let values):
        var members = members(of: columns[column])
        for value in values where !members.contains(value) { members.append(value) }
        columns[column] = .array(members)
      case .arrayRemove(let values):
        columns[column] = .array(members(of: columns[column]).filter { !values.contains($0) })
      }
    }
  }

  private static func members(of cell: Value?) -> [Value] {
    if case .array(let members)? = cell { members } else { [] }
  }
}
