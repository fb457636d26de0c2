/// A subcommand that does something: what it takes, and the doing.
///
/// A command reads all its arguments in `init`, so a usage error comes before any work, and then runs once.
protocol Command: SendableMetatype {
  static var specification: CommandSpecification { get }
  /// Takes what it needs out of `arguments`; values are checked here.
  init(_ arguments: Arguments) throws(UsageError)
  /// Does the work. Any error is turned into one line and an exit code by ``Failure``.
  func run(_ console: Console) throws -> ExitCode
}

/// A node of the command tree.
enum CommandNode: Sendable {
  case group(CommandGroup)
  case command(any Command.Type)

  var name: String {
    switch self {
    case .group(let group): group.name
    case .command(let command): command.specification.name
    }
  }

  var summary: String {
    switch self {
    case .group(let group): group.summary
    case .command(let command): command.specification.summary
    }
  }

  /// Hidden nodes run and have help, but no list names them.
  var isHidden: Bool {
    switch self {
    case .group: false
    case .command(let command): command.specification.isHidden
    }
  }
}

/// A name in front of other names: `strandline log …`.
struct CommandGroup: Sendable {
  var name: String
  var summary: String
  var members: [CommandNode]
  /// What runs where the words behind the group's name begin with that of no member; nil: such words are a mistake.
  var fallback: (any Command.Type)?

  func member(named name: String) -> CommandNode? { members.first { $0.name == name } }
}
