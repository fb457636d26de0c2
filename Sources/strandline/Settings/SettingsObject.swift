import StrandlineProtocol

/// An object of a settings file. Every member has to be known: a misspelt limit that nobody obeys is worse than a server that does not start.
struct SettingsObject {
  /// In front of the names, as in `limits.`; empty for the file itself.
  private let path: String
  private let members: [String: Value]

  /// The file itself.
  init(json text: [UInt8]) throws(Failure) {
    let value: Value
    do throws(StoreError) { value = try Value.json(text) } catch {
      guard case .coding(_, let path, let reason) = error else { throw Failure(.usage, error.description) }
      throw Failure(.usage, "\(path): \(reason)")
    }
    try self.init(value, path: "")
  }

  init(_ value: Value, path: String) throws(Failure) {
    guard case .object(let members) = value else { throw Self.failure(path, "an object is wanted") }
    self.members = members
    self.path = path
  }

  /// - Parameter names: all that the object may have.
  func check(_ names: String...) throws(Failure) {
    for name in members.keys.sorted() where !names.contains(name) {
      let hint = Suggestion.nearest(to: name, in: names).map { "; did you mean \($0)?" } ?? ""
      throw failure(name, "there is no such setting\(hint)")
    }
  }

  var names: [String] { members.keys.sorted() }

  func value(_ name: String) -> Value? { members[name] }

  func object(_ name: String) throws(Failure) -> SettingsObject? {
    guard let value = members[name] else { return nil }
    return try SettingsObject(value, path: place(name))
  }

  func text(_ name: String) throws(Failure) -> String? {
    guard let value = members[name] else { return nil }
    guard case .string(let text) = value, !text.isEmpty else { throw failure(name, "a text is wanted") }
    return text
  }

  func texts(_ name: String) throws(Failure) -> [String]? {
    guard let value = members[name] else { return nil }
    guard case .array(let values) = value else { throw failure(name, "a list of texts is wanted") }
    var texts: [String] = []
    for value in values {
      guard case .string(let text) = value, !text.isEmpty else { throw failure(name, "a list of texts is wanted") }
      texts.append(text)
    }
    return texts
  }

  func flag(_ name: String) throws(Failure) -> Bool? {
    guard let value = members[name] else { return nil }
    guard case .bool(let flag) = value else { throw failure(name, "true or false is wanted") }
    return flag
  }

  func integer(_ name: String, in range: ClosedRange<Int>) throws(Failure) -> Int? {
    guard let value = members[name] else { return nil }
    guard case .int(let number) = value, let whole = Int(exactly: number), range.contains(whole) else {
      throw failure(name, "a whole number from \(range.lowerBound) to \(range.upperBound) is wanted")
    }
    return whole
  }

  /// A time in seconds, above zero, at most a day.
  func seconds(_ name: String) throws(Failure) -> Duration? {
    guard let value = members[name] else { return nil }
    let seconds: Double? =
      switch value {
      case .int(let number): Double(number)
      case .double(let number): number
      default: nil
      }
    guard let seconds, 0.001...86_400 ~= seconds else {
      throw failure(name, "seconds are wanted, from 0.001 to 86400")
    }
    return .milliseconds(Int64(seconds * 1000))
  }

  func days(_ name: String) throws(Failure) -> Duration? {
    try integer(name, in: 0...100_000).map { .seconds($0 * 86_400) }
  }

  func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ name: String, as type: Choice.Type = Choice.self
  ) throws(Failure) -> Choice? {
    guard let text = try text(name) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      throw failure(name, "one of \(Choice.allCases.map(\.rawValue).joined(separator: ", ")) is wanted")
    }
    return choice
  }

  func failure(_ name: String, _ reason: String) -> Failure { Self.failure(place(name), reason) }

  private func place(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

  private static func failure(_ place: String, _ reason: String) -> Failure {
    Failure(.usage, place.isEmpty ? reason : "\(place): \(reason)")
  }
}
