/// The arguments of one command after parsing: which options were given, with which values, and the rest in order.
struct Arguments: Equatable {
  /// Values by name with dashes, in the order given; none for a flag.
  private(set) var options: [String: [String]] = [:]
  private(set) var positionals: [String] = []

  /// Sorts `words` by `specification`. Options may stand anywhere; `--` ends them; `--name=value` is `--name value`.
  init(parsing words: [String], for specification: CommandSpecification) throws(UsageError) {
    var index = 0
    var optionsEnded = false
    while index < words.count {
      let word = words[index]
      index += 1
      if optionsEnded || !word.hasPrefix("-") || word == "-" {
        positionals.append(word)
      } else if word == "--" {
        optionsEnded = true
      } else {
        try takeOption(word, specification, words, &index)
      }
    }
    try checkPositionals(specification)
    for option in specification.options where option.isRequired && options[option.name] == nil {
      throw .missingOption(option.name, valueName: option.valueName ?? "")
    }
  }

  private mutating func takeOption(
    _ word: String, _ specification: CommandSpecification, _ words: [String], _ index: inout Int
  ) throws(UsageError) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard let option = specification.options.first(where: { $0.name == name }) else {
      let names = specification.options.map(\.name) + ["--help"]
      throw .unknownOption(name, suggestion: Suggestion.nearest(to: name, in: names))
    }
    guard options[name] == nil || option.isRepeatable else { throw .repeatedOption(name) }
    guard let valueName = option.valueName else {
      guard parts.count == 1 else { throw .unexpectedValue(option: name) }
      options[name] = []
      return
    }
    if parts.count == 2 {
      options[name, default: []].append(String(parts[1]))
    } else if index < words.count, !words[index].hasPrefix("--") {
      options[name, default: []].append(words[index])
      index += 1
    } else {
      throw .missingValue(option: name, valueName: valueName)
    }
  }

  private func checkPositionals(_ specification: CommandSpecification) throws(UsageError) {
    let wanted = specification.positionals
    let required = wanted.filter { $0.arity != .optional }
    if positionals.count < required.count { throw .missingArgument(required[positionals.count].name) }
    let isOpenEnded = wanted.contains { $0.arity == .oneOrMore }
    if positionals.count > wanted.count, !isOpenEnded { throw .extraArgument(positionals[wanted.count]) }
    // They are paths, all of them; an empty one is a variable of a script that was never set.
    if let index = positionals.firstIndex(of: "") {
      throw .invalidArgument(name: wanted[min(index, wanted.count - 1)].name, value: "", expected: "a path")
    }
  }

  /// The positional at `index`; the parser has made sure that the required ones are there.
  func positional(_ index: Int) -> String { positionals[index] }

  func has(_ option: String) -> Bool { options[option] != nil }

  func value(_ option: String) -> String? { options[option]?.first }

  /// All values of an option that may be given more than once.
  func values(_ option: String) -> [String] { options[option] ?? [] }

  /// The value of an option that the command cannot do without.
  func required(_ option: String, _ valueName: String) throws(UsageError) -> String {
    guard let text = value(option) else { throw .missingOption(option, valueName: valueName) }
    guard !text.isEmpty else { throw .invalidValue(option: option, value: "", expected: "a name") }
    return text
  }

  /// A whole number inside `range`, or nil if the option was not given.
  func integer(_ option: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let text = value(option) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      let limits = range.upperBound == .max ? "or more" : "to \(range.upperBound)"
      throw .invalidValue(option: option, value: text, expected: "a whole number, \(range.lowerBound) \(limits)")
    }
    return number
  }

  /// A whole number that fits 64 bits, or nil if the option was not given.
  func unsigned(_ option: String) throws(UsageError) -> UInt64? {
    guard let text = value(option) else { return nil }
    guard let number = UInt64(text) else {
      throw .invalidValue(option: option, value: text, expected: "a whole number, 0 or more")
    }
    return number
  }

  /// One of the words of `Choice`, or nil if the option was not given.
  func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ option: String, as type: Choice.Type = Choice.self
  ) throws(UsageError) -> Choice? {
    guard let text = value(option) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw .invalidValue(option: option, value: text, expected: "one of \(words)")
    }
    return choice
  }

  /// Throws if more than one of `options` was given.
  func requireAtMostOne(of options: String...) throws(UsageError) {
    let given = options.filter(has)
    if given.count > 1 { throw .conflict(given[0], given[1]) }
  }
}
