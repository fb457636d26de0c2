extension Value: Hashable {
  public static func == (left: Value, right: Value) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let one), .bool(let other)): one == other
    case (.int(let one), .int(let other)), (.timestamp(let one), .timestamp(let other)): one == other
    case (.decimal(let one), .decimal(let other)), (.string(let one), .string(let other)):
      UTF8Order.areEqual(one, other)
    case (.double(let one), .double(let other)): one == other || (one.isNaN && other.isNaN)
    case (.bytes(let one), .bytes(let other)): one == other
    case (.uuid(let one), .uuid(let other)): one == other
    case (.array(let one), .array(let other)): one == other
    case (.object(let one), .object(let other)): areEqual(one, other)
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(ValueKind(of: self).rawValue)
    switch self {
    case .null, .bool: break
    case .int(let number), .timestamp(let number): hasher.combine(number)
    case .decimal(let text), .string(let text): UTF8Order.hash(text, into: &hasher)
    case .double(let number): hasher.combine(number.isNaN ? .nan : number)
    case .bytes(let bytes): hasher.combine(bytes)
    case .uuid(let uuid): hasher.combine(uuid)
    case .array(let values): hasher.combine(values)
    case .object(let members): hasher.combine(members.count)
    }
  }

  private static func areEqual(_ left: [String: Value], _ right: [String: Value]) -> Bool {
    guard left.count == right.count else { return false }
    for (name, value) in left {
      guard let index = right.index(forKey: name) else { return false }
      let other = right[index]
      guard UTF8Order.areEqual(name, other.key), value == other.value else { return false }
    }
    return true
  }
}
