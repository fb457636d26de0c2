@testable import StrandlineScenario

/// A step of a path into JSON.
enum JSONPlace: Sendable {
  case name(String)
  case index(Int)
}

extension JSONPlace: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  init(stringLiteral name: String) { self = .name(name) }
  init(integerLiteral index: Int) { self = .index(index) }
}

extension Value {
  /// The value with the place changed; nil takes a member out.
  func with(_ place: [JSONPlace], _ value: Value?) -> Value {
    guard let first = place.first else { return value ?? .null }
    let rest = Array(place.dropFirst())
    switch (self, first) {
    case (.object(var members), .name(let name)):
      members[name] = rest.isEmpty ? value : (members[name] ?? [:]).with(rest, value)
      return .object(members)
    case (.array(var members), .index(let index)):
      if rest.isEmpty, index == members.count {
        members.append(value ?? .null)
      } else if rest.isEmpty, value == nil {
        members.remove(at: index)
      } else {
        members[index] = members[index].with(rest, value)
      }
      return .array(members)
    default: preconditionFailure("there is no such place: \(first)")
    }
  }

  subscript(_ place: JSONPlace) -> Value {
    switch (self, place) {
    case (.object(let members), .name(let name)): members[name] ?? .null
    case (.array(let members), .index(let index)): members[index]
    default: .null
    }
  }
}
