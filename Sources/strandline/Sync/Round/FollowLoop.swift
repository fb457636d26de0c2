import Glibc
@_spi(Engine) import StrandlineLog
import StrandlineSync
import Synchronization

/// Syncs a client whenever there is reason to, and prints what its rounds came to, until it is interrupted.
struct FollowLoop {
  private let client: FollowedClient
  private let layout: JSONWriter.Layout?
  private let path: String
  private let console: Console

  init(_ client: FollowedClient, layout: JSONWriter.Layout?, path: String, _ console: Console) {
    self.client = client
    self.layout = layout
    self.path = path
    self.console = console
  }

  /// Errors that no later round gets over.
  private final class Fatal: Sendable {
    private let first = Mutex<SyncError?>(nil)

    var error: SyncError? { first.withLock { $0 } }

    func note(_ error: any Error) {
      guard let error = error as? SyncError, [.usage, .corruption].contains(Failure.code(of: error)) else { return }
      first.withLock { $0 = $0 ?? error }
    }
  }

  /// How long to wait before looking again: for rounds to print, and for writes of other processes.
  private static let pauseMilliseconds: Int32 = 50

  func run(every interval: Duration, wakes: any RealtimeSource, token: AccessToken) throws -> ExitCode {
    Interruption.beginGraceful()
    let fatal = Fatal()
    let client = client
    var settings = SchedulerSettings(refreshSession: { try token.required().isEmpty == false })
    settings.pollInterval = interval
    settings.realtime = wakes
    settings.realtimeTables = client.settings.tables.keys.sorted()
    settings.needsReset = { client.block != nil }
    settings.onError = { fatal.note($0) }
    let scheduler = SyncScheduler(client: client, settings: settings)
    scheduler.start()
    defer { scheduler.stop() }
    var told = SyncHealth()
    while true {
      // Read in front of the rounds, so that the one that ends it is printed.
      let (error, block) = (fatal.error, client.block)
      try print(client.takeRounds())
      try tell(scheduler.health(), &told)
      try console.out.flush()
      try console.out.checkReader()
      if let error { throw error }
      if block != nil { return .finding }
      if Interruption.isRequested { break }
      var waiting = pollfd(fd: Interruption.wakeDescriptor, events: Int16(POLLIN), revents: 0)
      poll(&waiting, 1, Self.pauseMilliseconds)
      client.lookForWrites()
    }
    scheduler.stop()
    // A round that is under way ends; a second signal does not wait for it.
    while client.isRunning { usleep(useconds_t(Self.pauseMilliseconds) * 1000) }
    try print(client.takeRounds())
    throw Interrupted()
  }

  private func print(_ rounds: [SyncRound]) throws {
    for round in rounds where !round.isQuiet {
      if let layout {
        var json = JSONWriter(layout)
        RoundText.write(round, to: &json)
        try console.out.write(&json)
      } else {
        for line in RoundText.lines(round, path: path) { try console.print("\(now)  \(line)") }
      }
    }
  }

  /// Tells of failures and of their end.
  private func tell(_ health: SyncHealth, _ told: inout SyncHealth) throws {
    // A run under way says nothing yet of how it goes.
    guard health.consecutiveFailures != told.consecutiveFailures, ![.syncing, .stalled].contains(health.phase) else {
      return
    }
    told = health
    if layout != nil {
      var json = JSONWriter(.line)
      RoundText.write(health, to: &json)
      try console.out.write(&json)
    } else if let error = health.lastError, health.consecutiveFailures > 0 {
      let next = health.nextAttemptAt.map { ", next attempt at \(UTCTime.text(milliseconds: $0))" } ?? ""
      let failures = HumanUnits.number(health.consecutiveFailures, of: "failure")
      console.note(
        "\(now)  \(failures)\(next): " + TerminalText.escaped("\(error.code.map { "\($0): " } ?? "")\(error.message)"))
    } else {
      console.note("\(now)  in step again")
    }
  }

  private var now: String { UTCTime.text(milliseconds: SystemClock().wallMilliseconds()) }
}
