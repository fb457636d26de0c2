/// One place of a JSON value that is not as expected.
public struct JSONDifference: Hashable, Sendable {
  /// As in `rows[3].seq`; empty for the whole.
  public var path: String
  /// Nil: nothing should be there.
  public var expected: Value?
  /// Nil: nothing is there.
  public var got: Value?

  public init(path: String = "", expected: Value?, got: Value?) {
    self.path = path
    self.expected = expected
    self.got = got
  }

  /// All places, in the order of names and members; none if the two are equal.
  ///
  /// Objects are compared by their sets of keys and each value, so an absent key and a null one differ; arrays member by member in order;
  /// numbers by value; texts exactly; never a number with a text.
  static func all(expected: Value?, got: Value?, at path: String = "") -> [JSONDifference] {
    switch (expected, got) {
    case (nil, nil): return []
    case (.object(let expected)?, .object(let got)?):
      let names = Set(expected.keys).union(got.keys).sorted()
      return names.flatMap { all(expected: expected[$0], got: got[$0], at: path.isEmpty ? $0 : "\(path).\($0)") }
    case (.array(let expected)?, .array(let got)?):
      return (0..<max(expected.count, got.count)).flatMap { place in
        all(
          expected: place < expected.count ? expected[place] : nil, got: place < got.count ? got[place] : nil,
          at: "\(path)[\(place)]")
      }
    case (let expected?, let got?) where expected.equalsOnWire(got): return []
    default: return [JSONDifference(path: path, expected: expected, got: got)]
    }
  }

  /// As ``all(expected:got:at:)`` for two requests, the members of whose `buckets` are a set.
  static func all(expectedRequest: Value, got: Value) -> [JSONDifference] {
    all(expected: withBucketsAsSet(expectedRequest), got: withBucketsAsSet(got))
  }

  static func withBucketsAsSet(_ request: Value) -> Value {
    guard case .object(var members) = request, case .array(let buckets)? = members["buckets"] else { return request }
    members["buckets"] = .array(set(buckets))
    return .object(members)
  }

  /// The members in the order of values, each once.
  static func set(_ members: [Value]) -> [Value] {
    members.sorted { Value.order($0, $1) < 0 }.reduce(into: []) { set, member in
      if set.last.map({ !$0.equalsOnWire(member) }) ?? true { set.append(member) }
    }
  }
}
