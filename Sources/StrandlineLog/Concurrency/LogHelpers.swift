/// The threads of a log: one that leads groups of async commits and keeps the timers, one that grows files.
final class LogHelpers: Sendable {
  let committer: HelperThread?
  let extender: HelperThread?
  /// The log whose timers the committer keeps; it must not be kept alive by its own thread.
  private let core: Lock<WeakCore>

  private struct WeakCore {
    weak var core: LogCore?
  }

  init(options: LogOptions, path: String) throws(LogError) {
    core = Lock(WeakCore())
    guard options.access == .readWrite, options.helpers == .threads else {
      committer = nil
      extender = nil
      return
    }
    let clock = options.environment.clock
    let owner = WeakOwner()
    let committer = HelperThread(name: "strand-commit", clock: clock) { owner.helpers?.timersFired() }
    let extender = HelperThread(name: "strand-extend", clock: clock)
    self.committer = committer
    self.extender = extender
    owner.helpers = self
    do throws(Errno) {
      try committer.start()
      try extender.start()
    } catch {
      committer.stop()
      throw .ioFailed(IOFailure(operation: .startThread, path: path, errno: error))
    }
  }

  private final class WeakOwner: @unchecked Sendable {
    weak var helpers: LogHelpers?
  }

  func serve(_ core: LogCore) { self.core.withLock { $0.core = core } }

  private func timersFired() { core.withLock { $0.core }?.timersFired() }

  func stop() {
    committer?.stop()
    extender?.stop()
  }
}
