/// The words behind the command's name: options with one value each, flags, and the rest.
struct Arguments {
  private var values: [String: String] = [:]
  private var flags: Set<String> = []
  private(set) var words: [String] = []

  /// - Throws: ``BenchmarkError/usage(_:)`` for an option that is not named, lacks its value, or comes twice.
  init(_ arguments: some Sequence<String>, options: Set<String>, flags known: Set<String>) throws {
    var rest = Array(arguments)[...]
    while let word = rest.popFirst() {
      guard word.hasPrefix("--"), word != "--" else {
        words.append(word)
        continue
      }
      let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      if known.contains(name), parts.count == 1 {
        flags.insert(name)
        continue
      }
      guard options.contains(name) else { throw BenchmarkError.usage("unknown option --\(name)") }
      guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst() else {
        throw BenchmarkError.usage("--\(name) needs a value")
      }
      guard values.updateValue(value, forKey: name) == nil else {
        throw BenchmarkError.usage("--\(name) is given twice")
      }
    }
  }

  subscript(option: String) -> String? { values[option] }

  func has(_ flag: String) -> Bool { flags.contains(flag) }

  func count(_ option: String, in range: ClosedRange<Int>, default standard: Int) throws -> Int {
    try count(option, in: range) ?? standard
  }

  func count(_ option: String, in range: ClosedRange<Int>) throws -> Int? {
    guard let text = values[option] else { return nil }
    guard let count = Int(text), range.contains(count) else {
      throw BenchmarkError.usage(
        "--\(option) must be a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'")
    }
    return count
  }
}
