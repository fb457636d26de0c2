import Strandline
import StrandlineLog

/// `strandline compact`: everything in one layer, nothing kept that nobody needs.
struct CompactCommand: Command {
  static let specification = CommandSpecification(
    name: "compact",
    summary: "Write everything into one layer and drop what nothing needs.",
    discussion: [
      "Drops replaced versions and log that the history does not need. Interrupted at any point, the store is as before."
    ],
    positionals: [StoreAccess.positional],
    options: [HistoryOption.option(default: "none"), .json])

  private let path: String
  private let history: StoreOptions.History
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    path = arguments.positional(0)
    history = try HistoryOption.value(arguments, default: "none")
    printsJSON = arguments.has("--json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let started = ContinuousClock.now
    let store = try StoreAccess.writing(path, makes: false, history: history, console)
    let before = try store.statistics()
    let bytesBefore = try DirectoryTree.byteCount(path)
    let bar = ProgressBar("compacting", total: Int(clamping: before.storedByteCount), console: console)
    do {
      try Patience.wait(for: { try store.compact() }, tick: { bar.update(unfinishedByteCount) })
      bar.finish()
    } catch {
      bar.finish()
      try? store.close()
      throw error
    }
    let after = try store.statistics()
    try store.close()
    let bytesAfter = try DirectoryTree.byteCount(path)
    let time = ContinuousClock.now - started
    if printsJSON {
      var json = JSONWriter(.document)
      json.object { json in
        json.schemaField()
        for (name, statistics, bytes) in [("before", before, bytesBefore), ("after", after, bytesAfter)] {
          json.name(name)
          json.object { json in
            json.field("layers", statistics.layers.filter { $0.versionCount > 0 }.count)
            json.field("versions", statistics.versionCount)
            json.field("layerBytes", statistics.storedByteCount)
            json.field("directoryBytes", bytes)
          }
        }
        let (seconds, attoseconds) = time.components
        json.field("nanoseconds", seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
      }
      json.endLine()
      try console.out.write(&json)
    } else {
      func words(_ statistics: StoreStatistics, _ bytes: Int) -> String {
        "\(HumanUnits.count(statistics.versionCount)) versions, \(HumanUnits.bytes(bytes))"
      }
      try console.print("before  \(words(before, bytesBefore))")
      try console.print("after   \(words(after, bytesAfter)), in \(HumanUnits.duration(time))")
    }
    return .success
  }

  /// Bytes of layers in the making.
  private var unfinishedByteCount: Int {
    DirectoryTree.fileSizes(in: path).filter { $0.name.hasPrefix("layer-") && $0.name.hasSuffix(".tmp") }
      .reduce(0) { $0 + $1.byteCount }
  }
}

extension StoreStatistics {
  var versionCount: UInt64 { layers.reduce(0) { $0 + $1.versionCount } }
  /// Of all layers.
  var storedByteCount: UInt64 { layers.reduce(0) { $0 + $1.byteCount } }
}
