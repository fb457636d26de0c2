internal import StrandlineProtocol

/// How far a client reset has come, as `strandline.meta` keeps it.
struct ResetRecord: Hashable, Codable, Sendable {
  enum Phase: String, Hashable, Codable, Sendable {
    /// The fresh copy is being pulled.
    case fresh
    /// It is complete and fits; before is called.
    case ready
    /// Before has returned.
    case marker
    /// The new state is there; after is called, and the carried writes wait for their answers.
    case switched
    case failed
    /// The manual way: what an application or a later process does with a token.
    case action
  }

  /// What an attempt runs as.
  enum Running: String, Hashable, Codable, Sendable {
    case recover, discard
    var name: ClientResetMode.Name { self == .recover ? .recover : .discard }
  }

  struct Failure: Hashable, Codable, Sendable {
    var reason: ClientResetInfo.Reason
    var running: Running
    /// Whether the guard holds it against another try.
    var isCounted: Bool
    var message: String
  }

  enum After: String, Hashable, Codable, Sendable { case pending, ended }

  struct Action: Hashable, Codable, Sendable {
    var token: String
    /// Of the directory that the kept copy gets.
    var copyName: String
    /// That it lies in; nil: the store's own.
    var copyDirectory: String?
    var isCopied = false
    /// Of the process that recorded it, which does not run it by itself.
    var launch: String
    /// Whether the first open by a later process runs it.
    var isAutomatic: Bool
    var schemaVersion: Int
  }

  static let formatVersion = 1

  var format = ResetRecord.formatVersion
  var attemptID: String
  var configuredMode: ClientResetMode.Name
  var running: Running
  var phase: Phase
  /// Between ready and switch: callbacks and replay were under way when this was written.
  var isRunning = false
  var crashCount = 0
  /// Switches for the same demand in front of this one that were not acknowledged.
  var repeatCount = 0
  /// Switches in a row without an acknowledgement.
  var switchCount = 0
  var failure: Failure?
  var demand: ClientResetDemand
  var digest: String
  var clientID: String
  /// By table.
  var buckets: [String: String] = [:]
  var owner: String?
  /// Of the staging store.
  var stagingID: String
  var fallbacks: [ClientResetReport.Fallback] = []
  var keepsCopy = false
  var copyName: String?
  /// That the copy lies in; nil: the store's own.
  var copyDirectory: String?
  /// Queue number of the last entry at the switch.
  var carriedThrough: Int64 = 0
  var after: After = .ended
  var afterCrashCount = 0
  /// The copy goes once after has ended.
  var dropsCopy = false
  var action: Action?
  var startedAt: Int64

  /// What failed on the way here, the oldest first.
  var failures: [ClientResetReport.Fallback] {
    if let failure {
      return fallbacks + [.init(mode: failure.running.name, reason: failure.reason, message: failure.message)]
    }
    // An action behind a switch: the guard has refused another one.
    guard phase == .switched, action != nil else { return fallbacks }
    return fallbacks + [.init(mode: running.name, reason: .loopDetected, message: ResetGuard.didNotHelp)]
  }

  /// Nil for what cannot be read or is of another format: it counts as none.
  init?(_ text: String?) {
    guard let text, let record = StoredJSON.decode(ResetRecord.self, text), record.format == Self.formatVersion else {
      return nil
    }
    self = record
  }

  init(
    attemptID: String, configuredMode: ClientResetMode.Name, running: Running, phase: Phase, demand: ClientResetDemand,
    digest: String, clientID: String, stagingID: String, startedAt: Int64
  ) {
    self.attemptID = attemptID
    self.configuredMode = configuredMode
    self.running = running
    self.phase = phase
    self.demand = demand
    self.digest = digest
    self.clientID = clientID
    self.stagingID = stagingID
    self.startedAt = startedAt
  }
}
