import Strandline
import StrandlineLog

/// What the chapters of the tour share: where it happens, what is written, what was found.
final class Tour {
  let directory: String
  /// Path of this executable, to be started again.
  let tool: String
  let console: Console
  let narrator: Narrator
  var history = TourHistory(source: .changelogs)
  /// All that was collected, for the tables.
  var uploads = ChangelogUploads(source: .changelogs)
  var figures = TourFigures()
  /// Commits of the history that the store is known to hold.
  var writtenCount = 0

  /// The log that the first chapters try to break.
  var store: String { "\(directory)/store" }
  /// The store with tables of the later ones.
  var tables: String { "\(directory)/tables" }

  init(directory: String, tool: String = ChildProcess.ownPath, console: Console, narrator: Narrator) {
    self.directory = directory
    self.tool = tool
    self.console = console
    self.narrator = narrator
  }

  /// Opens the store with tables. Its segments are small, so that a history of this size has several, and can be given back.
  func openTables(history: StoreOptions.History = .none, schema: Schema? = nil) throws -> Store {
    var options = StoreOptions()
    options.history = history
    options.log.segmentByteCountMax = 1 << 20
    return try Store.open(at: tables, schema: schema, options: options)
  }

  /// Says that something was checked and is so; the check itself has thrown otherwise.
  func proved(_ text: String) throws {
    figures.proofCount += 1
    try narrator.proved(text)
  }

  /// Opens the store, which recovers it, proves that it holds a prefix of the history, and closes it.
  ///
  /// - Parameter acknowledged: the store must hold at least this many commits, and at most one more: the one that was on its
  ///   way.
  func reopen(acknowledged: Int) throws -> OpenReport {
    let log = try Log.open(at: store)
    let found = try TourProof.compare(log, with: history)
    try TourProof.require(found >= acknowledged, "\(acknowledged) commits were acknowledged, \(found) are there")
    try TourProof.require(found <= acknowledged + 1, "\(found) commits are there, \(acknowledged) were acknowledged")
    try log.close()
    writtenCount = found
    return log.openReport
  }
}

/// A part of the tour. Later parts use what earlier ones left in the ``Tour``.
protocol TourChapter: SendableMetatype {
  static var title: String { get }
  static func run(_ tour: Tour) throws
}
