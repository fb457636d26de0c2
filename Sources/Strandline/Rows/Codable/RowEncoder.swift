/// Makes rows of the application's own types.
///
/// The type's stored properties become columns. UUID, `Date` (to the millisecond), `Data`, `Decimal` and `[UInt8]` become the values of
/// their kind, integers beyond 64 bits with sign become decimals, arrays and other types inside become arrays and objects. An optional
/// that is nil becomes ``Value/null``.
public struct RowEncoder: Sendable {
  public init() {}

  /// - Throws: ``StoreError/coding(type:path:reason:)``.
  public func encode<Model: Encodable>(_ model: Model) throws(StoreError) -> Row {
    let node = EncodedNode()
    do { try model.encode(to: ValueEncoder(node: node, codingPath: [])) } catch {
      throw .coding(error, type: "\(Model.self)")
    }
    guard case .object(let members) = node.content else {
      throw .coding(
        type: "\(Model.self)", path: "", reason: "a row is made of named properties, and this type has none")
    }
    return Row(unordered: members.map { Row.Cell(name: $0.name, value: $0.content.value) })
  }
}

extension StoreError {
  /// What a type's own coding threw.
  static func coding(_ error: any Error, type: String) -> StoreError {
    switch error {
    case let error as StoreError: return error
    case EncodingError.invalidValue(_, let context): return coding(context.debugDescription, context.codingPath, type)
    case DecodingError.keyNotFound(let key, let context):
      return coding("there is no value", context.codingPath + [key], type)
    case DecodingError.valueNotFound(_, let context), DecodingError.typeMismatch(_, let context),
      DecodingError.dataCorrupted(let context):
      return coding(context.debugDescription, context.codingPath, type)
    default: return coding("\(error)", [], type)
    }
  }

  private static func coding(_ reason: String, _ path: [any CodingKey], _ type: String) -> StoreError {
    var text = ""
    for key in path {
      if let index = key.intValue { text += "[\(index)]" } else { text += (text.isEmpty ? "" : ".") + key.stringValue }
    }
    return .coding(type: type, path: text, reason: reason)
  }
}

/// A place in an array, or the name of a member, in coding paths.
enum ValueCodingKey: CodingKey {
  case index(Int)
  case name(String)

  init(stringValue: String) { self = .name(stringValue) }
  init(intValue: Int) { self = .index(intValue) }

  var stringValue: String {
    switch self {
    case .index(let index): "\(index)"
    case .name(let name): name
    }
  }

  var intValue: Int? { if case .index(let index) = self { index } else { nil } }
}
