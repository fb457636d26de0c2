@_spi(Engine) import StrandlineLog

/// `strandline log list`: every frame, whole or not.
struct LogList: Command {
  static let specification = CommandSpecification(
    name: "list",
    summary: "List every frame with its place, size and verdict.",
    discussion: [
      "Goes on behind damage at the next frame that verifies. Without --all the segments of the chain, with it also files",
      "that a reset or release gave up and files that are not of the chain. Beside a writer it ends with the last complete commit;",
      "what follows is in flight. With --jsonl a flippedByte counts in its frame; `verify --json` counts it in the file.",
      "Positions are decimal, or 0x and hexadecimal digits.",
    ],
    positionals: [InspectedPath.positional],
    options: [
      .jsonLines,
      .init("--all", summary: "Also what is left in files that do not count any more."),
      .init("--from", "LSN", summary: "Begin with the first frame at or behind this position."),
      .init("--to", "LSN", summary: "End with the last frame that begins in front of this position."),
    ] + InspectedPath.options)

  private let path: InspectedPath
  private let options: FrameLister.Options

  init(_ arguments: Arguments) throws(UsageError) {
    path = try InspectedPath(arguments)
    options = FrameLister.Options(
      printsJSON: arguments.has("--jsonl"), includesAll: arguments.has("--all"),
      from: try arguments.position("--from") ?? .zero, to: try arguments.position("--to") ?? .max)
  }

  func run(_ console: Console) throws -> ExitCode {
    let inspector = try path.inspector()
    var lister = FrameLister(options: options, console: console)
    return try inspector.resuming { condition in try lister.list(inspector, condition) }
  }
}
