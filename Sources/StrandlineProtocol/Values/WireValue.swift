extension Value {
  /// Whether two values are the same to the protocol: numbers by what they stand for, texts by their code points, arrays member by member,
  /// objects by key. A number, a text and a truth are never equal.
  public func equalsOnWire(_ other: Value) -> Bool { Value.order(self, other) == 0 }

  /// The text that stands for the value in keys and buckets: a text as it is, a whole number in plain decimal, `true` or `false`. Nil for
  /// everything else, null included.
  public var wireText: String? {
    switch self {
    case .string(let text): text
    case .int(let number): String(number)
    case .decimal(let digits): digits
    case .double(let number): WholeNumber(exactly: number)?.description
    case .bool(let flag): flag ? "true" : "false"
    default: nil
    }
  }
}
