import Glibc
import Synchronization

/// SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ and SIGQUIT.
///
/// Until a command asks to ``beginGraceful()``, SIGINT ends the process at once with 130: everything this tool writes
/// survives that. After it the first SIGINT, SIGTERM or SIGHUP is remembered, and wakes who polls ``wakeDescriptor``;
/// the second ends the process.
enum Interruption {
  private static let isGraceful = Atomic<Bool>(false)
  private static let wasRequested = Atomic<Bool>(false)
  private static let readEnd = Atomic<Int32>(-1)
  private static let writeEnd = Atomic<Int32>(-1)

  /// Called once, before any other thread exists.
  static func install() {
    // Touched here so that the handler never runs their initializers.
    isGraceful.store(false, ordering: .relaxed)
    wasRequested.store(false, ordering: .relaxed)
    signal(SIGPIPE, SIG_IGN)
    // A file that may not grow is an error with a message, as a full disk is.
    signal(SIGXFSZ, SIG_IGN)
    // Swift's runtime has taken it to print backtraces, and the process would live on.
    if !isIgnored(SIGQUIT) { signal(SIGQUIT, SIG_DFL) }
    handle(SIGINT)
  }

  /// From here on SIGINT, SIGTERM and SIGHUP ask the command to finish what it holds.
  static func beginGraceful() {
    if readEnd.load(ordering: .relaxed) == -1 {
      var ends: [Int32] = [-1, -1]
      if pipe(&ends) == 0 {
        for end in ends {
          _ = fcntl(end, F_SETFD, FD_CLOEXEC)
          _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        writeEnd.store(ends[1], ordering: .releasing)
        readEnd.store(ends[0], ordering: .releasing)
      }
    }
    isGraceful.store(true, ordering: .releasing)
    handle(SIGTERM)
    // `nohup` has it ignored, and means it.
    if !isIgnored(SIGHUP) { handle(SIGHUP) }
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  static var isRequested: Bool { wasRequested.load(ordering: .acquiring) }

  /// Becomes readable once a signal has come. -1 before ``beginGraceful()``; `poll` passes over that.
  static var wakeDescriptor: Int32 { readEnd.load(ordering: .acquiring) }

  /// Throws ``Interrupted`` once a signal has come.
  static func check() throws(Interrupted) {
    if isRequested { throw Interrupted() }
  }

  private static func handle(_ number: Int32) {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in Interruption.arrived() }
    action.sa_flags = SA_RESTART
    sigaction(number, &action, nil)
  }

  /// Runs in the signal handler: atomics, `write` and `_exit` only.
  private static func arrived() {
    let saved = errno
    if !isGraceful.load(ordering: .acquiring) || wasRequested.exchange(true, ordering: .acquiringAndReleasing) {
      _exit(ExitCode.interrupted.rawValue)
    }
    let end = writeEnd.load(ordering: .acquiring)
    if end >= 0 {
      var byte: UInt8 = 0
      _ = write(end, &byte, 1)
    }
    errno = saved
  }
}

/// The user asked to stop. Exit code 130, no message.
struct Interrupted: Error {}
