internal import StrandlineProtocol

extension SyncState {
  mutating func meta(_ key: MetaKey) throws -> Value? {
    try store.get(key: [.string(key.rawValue)], in: StateTable.meta)?["value"]
  }

  /// Nil takes the key out.
  mutating func setMeta(_ key: MetaKey, _ value: Value?) throws {
    if key == .softBlockReason { changesBlock = true }
    if let value {
      try store.put(["key": .string(key.rawValue), "value": value], into: StateTable.meta)
    } else {
      try store.delete(key: [.string(key.rawValue)], from: StateTable.meta)
    }
  }

  mutating func metaText(_ key: MetaKey) throws -> String? { try MetaValue.text(try meta(key), key) }
  mutating func metaNumber(_ key: MetaKey) throws -> Int64? { try MetaValue.number(try meta(key), key) }

  /// Gives out the next number of a counter that begins at 1.
  mutating func draw(_ key: MetaKey) throws -> Int64 {
    let number = try metaNumber(key) ?? 1
    try setMeta(key, .int(number &+ 1))
    return number
  }

  mutating func cursor() throws -> String { try metaText(.cursor) ?? "0" }
  mutating func isRehydrating() throws -> Bool { try meta(.isRehydrating) == .bool(true) }
  mutating func softBlock() throws -> SoftBlockReason? { try MetaValue.softBlock(try meta(.softBlockReason)) }
}

/// What stands behind a meta key. Outside its kind it is corruption, and said so.
enum MetaValue {
  static func text(_ value: Value?, _ key: MetaKey) throws(SyncError) -> String? {
    switch value {
    case nil: nil
    case .string(let text)?: text
    default: throw defect(key, "a text")
    }
  }

  static func number(_ value: Value?, _ key: MetaKey) throws(SyncError) -> Int64? {
    switch value {
    case nil: nil
    case .int(let number)?: number
    default: throw defect(key, "a whole number")
    }
  }

  static func softBlock(_ value: Value?) throws(SyncError) -> SoftBlockReason? {
    guard let word = try text(value, .softBlockReason) else { return nil }
    guard let reason = SoftBlockReason(rawValue: word) else {
      throw SyncError(.store, "the stored reason of the soft block is \"\(word)\", which this version does not know")
    }
    return reason
  }

  private static func defect(_ key: MetaKey, _ wanted: String) -> SyncError {
    SyncError(.json, "the stored value of \(key.rawValue) is not \(wanted)")
  }
}

extension ReadView {
  func meta(_ key: MetaKey) throws -> Value? {
    try get(key: [.string(key.rawValue)], in: StateTable.meta)?["value"]
  }

  func metaText(_ key: MetaKey) throws -> String? { try MetaValue.text(try meta(key), key) }
  func metaNumber(_ key: MetaKey) throws -> Int64? { try MetaValue.number(try meta(key), key) }
  func softBlock() throws -> SoftBlockReason? { try MetaValue.softBlock(try meta(.softBlockReason)) }
}
