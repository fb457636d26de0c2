/// Lengths that fit the keys of every storage, in bytes with zeros counted thrice.
enum StorageLimits {
  static let pkByteCountMax = 480
  static let bucketByteCountMax = 256
  static let mutationIDByteCountMax = 512
  static let clientIDByteCountMax = 256
  /// Arrays and objects inside one another, the cell itself counted.
  static let nestingDepthMax = 64
}

extension [String: Value] {
  /// Bytes of the columns of a row in an answer, about. A row that is stored is never nested too deeply.
  var answeredByteCount: Int { Value.object(self).storedByteCount() ?? 0 }
}

extension Value {
  /// Bytes of the value, about; nil if it is nested too deeply.
  func storedByteCount(depth: Int = 1) -> Int? {
    guard depth <= StorageLimits.nestingDepthMax else { return nil }
    switch self {
    case .null, .bool: return 1
    case .int, .double, .timestamp: return 8
    case .uuid: return 16
    case .string(let text), .decimal(let text): return 4 + text.utf8.count
    case .bytes(let bytes): return 4 + bytes.count
    case .array(let members):
      var total = 4
      for member in members {
        guard let count = member.storedByteCount(depth: depth + 1) else { return nil }
        total += count
      }
      return total
    case .object(let members):
      var total = 4
      for (name, member) in members {
        guard let count = member.storedByteCount(depth: depth + 1) else { return nil }
        total += 4 + name.utf8.count + count
      }
      return total
    }
  }
}
