import StrandlineLog

/// What lines from outside are gathered into, and how they are made durable.
protocol LineSink: ~Copyable, SendableMetatype {
  /// Lines in the commit in hand; zero: there is none.
  var gatheredCount: Int { get }
  /// The longest line that can be taken.
  var lineByteCountMax: Int { get }
  /// Takes one line; may commit what came before it.
  ///
  /// - Parameter number: of the line, counted from 1, for messages.
  mutating func add(_ line: UnsafeRawBufferPointer, number: Int) throws -> CommittedLines?
  /// Commits what was gathered; nil: nothing was.
  mutating func commit() throws -> CommittedLines?
  /// The last commit that a sync has covered.
  var durable: SequenceNumber { get }
  func sync() throws
}

/// A commit made of lines.
struct CommittedLines {
  var sequence: SequenceNumber
  /// Zero: nothing was written after all.
  var lineCount: Int
  /// Why the line behind them was not taken.
  var refusal: (any Error)?
}
