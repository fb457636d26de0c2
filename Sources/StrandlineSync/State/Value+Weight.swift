internal import StrandlineProtocol

extension Value {
  /// About how many bytes the value is in the store.
  var weight: Int {
    switch self {
    case .null, .bool, .int, .double, .timestamp, .uuid: 24
    case .string(let text), .decimal(let text): 24 + text.utf8.count
    case .bytes(let bytes): 24 + bytes.count
    case .array(let members): members.reduce(24) { $0 + $1.weight }
    case .object(let members): members.reduce(24) { $0 + $1.key.utf8.count + $1.value.weight }
    }
  }
}
