import StrandlineProtocol
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// What both sides agreed on, what was written here and not uploaded, what the server has after its loss, and what a reset makes of it.
///
/// Numbers are those of Realm's own tests, as Docs/ClientReset.md, "Cases", has them. Rows are those of `todos`, by key.
struct ResetCase: Sendable {
  typealias Rows = [String: [String: Value]]

  enum Step: Sendable {
    case insert(String, [String: Value])
    case set(String, [String: Value])
    case change(String, [String: Value])
    case delete(String)

    static func union(_ pk: String, _ column: String, _ values: Value...) -> Step {
      .change(pk, [column: ["op": "arrayUnion", "values": .array(values)]])
    }
    static func subtract(_ pk: String, _ column: String, _ values: Value...) -> Step {
      .change(pk, [column: ["op": "arrayRemove", "values": .array(values)]])
    }
    static func add(_ pk: String, _ column: String, _ number: Int64) -> Step {
      .change(pk, [column: ["op": "increment", "by": .int(number)]])
    }
  }

  enum Mode: String, Sendable, CaseIterable {
    case recover, discard
    case recoverOrDiscard = "recover-or-discard"
    /// Recover-or-discard of a server that forbids recovery.
    case forbidden

    var isRecovering: Bool { self == .recover || self == .recoverOrDiscard }
    var name: ClientResetMode.Name {
      switch self {
      case .recover: .recover
      case .discard: .discard
      case .recoverOrDiscard, .forbidden: .recoverOrDiscard
      }
    }
  }

  var number: Int
  /// Of several readings of one case.
  var reading = ""
  var base: Rows
  var steps: [Step]
  /// Nil: the row is gone, with a tombstone. A row of the base that is not named is gone without one.
  var server: [String: [String: Value]?]
  /// What a recovery ends with. A discard ends with what the server has.
  var recovered: Rows
  /// What a recovery drops, in the order of the queue.
  var dropped: [ClientResetReport.Reason] = []
  var modes = Mode.allCases

  init(
    _ number: Int, reading: String = "", _ base: Rows, _ steps: [Step], _ server: [String: [String: Value]?],
    _ recovered: Rows, dropped: [ClientResetReport.Reason] = [], modes: [Mode] = Mode.allCases
  ) {
    self.number = number
    self.reading = reading
    self.base = base
    self.steps = steps
    self.server = server
    self.recovered = recovered
    self.dropped = dropped
    self.modes = modes
  }

  /// The same with one row `r` on all sides, which has the one column `v`.
  init(
    _ number: Int, reading: String = "", value base: Value, _ steps: [Step], _ server: Value, _ recovered: Value
  ) {
    self.init(number, reading: reading, ["r": ["v": base]], steps, ["r": ["v": server]], ["r": ["v": recovered]])
  }

  /// Each case in each of its modes.
  static func runs(of cases: [ResetCase]) -> [ResetCaseRun] {
    cases.flatMap { row in row.modes.map { ResetCaseRun(row: row, mode: $0) } }
  }
}
