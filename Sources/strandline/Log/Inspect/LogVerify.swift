@_spi(Engine) import Strandline
@_spi(Engine) import StrandlineLog

/// `strandline log verify`: every byte proved, every damage named.
struct LogVerify: Command {
  static let specification = CommandSpecification(
    name: "verify",
    summary: "Prove every byte of a store and name all damage.",
    discussion: [
      "Reads META, segment headers and all frames, released or in front of the anchor as well, and every block of every",
      "layer, and says what open would do. Where all of it verifies, the facts of a store with tables are read, too: a record that is",
      "none keeps it from being opened. Changes nothing, takes no lock, and may run beside a writer.",
      "",
      "Exit code 0: fine, also an empty directory, where there is no store yet. 1: something a healthy store does not have, and",
      "nothing confirmed is lost (a torn tail, one bad slot of META). 3: confirmed bytes are damaged, or the file is foreign or",
      "newer; also a directory in which others' files lie and no store, though `log append` would make one beside them. 4: nothing",
      "is at the path, or it cannot be read.",
      "",
      "With --json a flippedBit says the bit, and the byte as it counts in the file; `log list --jsonl` counts it in the frame.",
    ],
    positionals: [InspectedPath.positional],
    options: [
      .json,
      .init("--threads", "N", summary: "Files that are read at the same time, 1 to 64 (default 2)."),
    ] + InspectedPath.options)

  private let path: InspectedPath
  private let threadCount: Int
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    path = try InspectedPath(arguments)
    threadCount = try arguments.integer("--threads", in: 1...64) ?? 2
    printsJSON = arguments.has("--json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let inspector = try path.inspector()
    var report = try inspector.verify(threadCount: threadCount) { (entry, identifier, directory) throws(LogError) in
      try LayerInspector(in: directory, of: identifier).proof(of: entry)
    }
    if inspector.target == .store { Self.proveFacts(&report) }
    console.settle(ExitCode(report.worst))
    if printsJSON {
      var json = JSONWriter(.document)
      VerifyText.write(report, to: &json)
      json.endLine()
      try console.out.write(&json)
    } else {
      for finding in report.findings { try console.print(FindingText.line(finding, console)) }
      for line in VerifyText.summary(of: report) { try console.print(line) }
    }
    return ExitCode(report.worst)
  }

  /// Bytes that verify may still be no facts of tables.
  private static func proveFacts(_ report: inout VerifyReport) {
    guard !report.survey.isEmpty, report.refusal == nil, (report.worst ?? .note) < .corruption else { return }
    let path = report.survey.path
    let proof = FactProof(of: path, hasLayers: report.survey.root.root?.layers.isEmpty == false)
    guard let refusal = proof.refusal else { return }
    report.refuse(
      Finding(
        .corruption, .factUnreadable, path,
        "\(refusal.summary): it verifies, and something else than a store with tables wrote it"))
  }
}
