/// What a command takes, as the parser and the help page read it.
struct CommandSpecification: Sendable {
  /// Something without dashes: `STORE`.
  struct Positional: Sendable {
    enum Arity: Sendable { case required, optional, oneOrMore }

    var name: String
    var summary: String
    var arity = Arity.required
  }

  /// Something with dashes: `--batch N` takes a value, `--acks` does not.
  struct Option: Sendable {
    /// With its dashes.
    var name: String
    /// The word that stands for the value in help pages; nil for a flag.
    var valueName: String?
    /// States the default and the range of a value.
    var summary: String
    /// The command does nothing without it.
    var isRequired: Bool
    /// May be given more than once.
    var isRepeatable: Bool

    init(
      _ name: String, _ valueName: String? = nil, isRepeatable: Bool = false, summary: String, isRequired: Bool = false
    ) {
      self.name = name
      self.valueName = valueName
      self.isRepeatable = isRepeatable
      self.summary = summary
      self.isRequired = isRequired
    }

    static let json = Option("--json", summary: "Print one JSON document.")
    static let jsonLines = Option("--jsonl", summary: "Print one JSON object a line.")
  }

  var name: String
  /// One line, ends with a full stop.
  var summary: String
  /// More lines for the help page, each at most 100 columns.
  var discussion: [String] = []
  var positionals: [Positional] = []
  var options: [Option] = []
  var isHidden = false
}
