extension Value {
  /// What `contains`, `containedBy` and `overlaps` see of a cell: a string that holds JSON is what the JSON says.
  var asDocument: Value {
    guard case .string(let text) = self else { return self }
    let parsed: Value? = try? Value.json(text)
    return parsed ?? self
  }

  /// Whether everything in `part` is in this value, as PostgreSQL's `@>` has it: of an object every member of `part` by name, of an array
  /// every member of `part` somewhere, of others equality. An array also contains a lone value that is a member.
  func contains(_ part: Value) -> Bool { contains(part, isOutermost: true) }

  private func contains(_ part: Value, isOutermost: Bool) -> Bool {
    switch (self, part) {
    case (.object(let members), .object(let wanted)):
      wanted.allSatisfy { name, value in
        // Found as `String` compares, it may still be another name.
        guard let place = members.index(forKey: name), UTF8Order.areEqual(members[place].key, name) else {
          return false
        }
        return members[place].value.contains(value, isOutermost: false)
      }
    case (.array(let members), .array(let wanted)):
      wanted.allSatisfy { value in members.contains { $0.contains(value, isOutermost: false) } }
    case (.array(let members), _) where isOutermost:
      members.contains { Value.areEqualInOrder($0, part) }
    default:
      Value.areEqualInOrder(self, part)
    }
  }

  /// Nil: not both are arrays.
  func overlaps(_ other: Value) -> Bool? {
    guard case .array(let left) = self, case .array(let right) = other else { return nil }
    return left.contains { one in right.contains { Value.areEqualInOrder(one, $0) } }
  }
}
