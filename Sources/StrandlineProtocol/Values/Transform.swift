/// A change of one cell that depends on what the cell holds when it is made.
public enum Transform: Hashable, Sendable {
  /// Adds; a missing or null cell is zero.
  case increment(WholeNumber)
  /// Appends the members that are not there yet, in their order, each once; a missing or null cell is empty.
  case arrayUnion([Value])
  /// Takes out all equal members; a missing or null cell is empty.
  case arrayRemove([Value])

  /// Whose rules a transform is read by.
  public enum Reader: Sendable {
    /// `by` may be null, which is zero, and members may be any values.
    case client
    /// `by` is a number, and members are at least one and neither null nor arrays nor objects.
    case server
  }

  /// Reads `{"op": "increment", "by": 2}` or `{"op": "arrayUnion", "values": [...]}`.
  ///
  /// - Throws: ``MessageDefect`` with an empty path for anything else.
  public init(_ json: Value, for reader: Reader) throws(MessageDefect) {
    let transform = MessageMember(json, "")
    _ = try transform.object()
    switch try transform.required("op").text() {
    case "increment":
      let by = try transform.required("by")
      if by.value.isNull, case .client = reader {
        self = .increment(.zero)
      } else if let number = WholeNumber(by.value) {
        self = .increment(number)
      } else {
        throw by.defect("a whole number or its digits")
      }
    case "arrayUnion": self = .arrayUnion(try Self.values(transform, for: reader))
    case "arrayRemove": self = .arrayRemove(try Self.values(transform, for: reader))
    case let word: throw MessageDefect(path: "op", reason: "\"\(word)\" is no transform")
    }
  }

  /// As it travels.
  public var json: Value {
    switch self {
    case .increment(let by):
      ["op": "increment", "by": Int64(by.description).map { .int($0) } ?? .string(by.description)]
    case .arrayUnion(let values): ["op": "arrayUnion", "values": .array(values)]
    case .arrayRemove(let values): ["op": "arrayRemove", "values": .array(values)]
    }
  }

  private static func values(_ transform: MessageMember, for reader: Reader) throws(MessageDefect) -> [Value] {
    let values = try transform.required("values")
    let members = try values.members()
    if case .server = reader {
      if members.isEmpty { throw values.defect("at least one member") }
      for member in members {
        switch member.value {
        case .null, .array, .object: throw member.defect("a text, a number or a truth")
        default: break
        }
      }
    }
    return members.map(\.value)
  }

  /// What the cell holds afterwards; nil if the transform cannot be done on it.
  ///
  /// - Complexity: O(bytes of the cell and of the transform).
  public func applied(to cell: Value?) -> Value? {
    switch self {
    case .increment(let by):
      guard let cell, !cell.isNull else { return by.cell }
      return WholeNumber(cell).map { ($0 + by).cell }
    case .arrayUnion(let values):
      guard var members = Self.members(of: cell) else { return nil }
      var known = Set(members.map(WireIdentity.init))
      for value in values where known.insert(WireIdentity(value)).inserted { members.append(value) }
      return .array(members)
    case .arrayRemove(let values):
      guard let members = Self.members(of: cell) else { return nil }
      let removed = Set(values.map(WireIdentity.init))
      return .array(members.filter { !removed.contains(WireIdentity($0)) })
    }
  }

  private static func members(of cell: Value?) -> [Value]? {
    switch cell {
    case nil, .null?: []
    case .array(let members)?: members
    default: nil
    }
  }
}
