import StrandlineLog

/// What the chapters of the tour share: where it happens, what is written, what was found.
final class Tour {
  let directory: String
  /// Path of this executable, to be started again.
  let tool: String
  let console: Console
  let narrator: Narrator
  var history = TourHistory(source: .changelogs)
  var figures = TourFigures()
  /// Commits of the history that the store is known to hold.
  var writtenCount = 0

  /// The store that everything is done to.
  var store: String { "\(directory)/store" }

  init(directory: String, tool: String = ChildProcess.ownPath, console: Console, narrator: Narrator) {
    self.directory = directory
    self.tool = tool
    self.console = console
    self.narrator = narrator
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
