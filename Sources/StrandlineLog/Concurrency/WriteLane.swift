/// Who may write to the log: one at a time.
///
/// Leaders of groups of commits share the lane with operations that need it for themselves (roll for a copy, reset, close).
/// The latter go first, so that a stream of commits cannot keep a reset waiting.
struct WriteLane: ~Copyable, Sendable {
  // Not private: LogCore holds the lane as a value, and the compiler (6.3.1, debug) fails to link a private type's descriptor from
  // there.
  struct State {
    var isBusy = false
    var exclusiveWaiting = 0
  }

  private let monitor = Monitor(State())

  func enterAsLeader() {
    monitor.wait { state -> Void? in
      guard !state.isBusy, state.exclusiveWaiting == 0 else { return nil }
      state.isBusy = true
      return ()
    }
  }

  func enterExclusively() {
    monitor.look { $0.exclusiveWaiting += 1 }
    monitor.wait { state -> Void? in
      guard !state.isBusy else { return nil }
      state.exclusiveWaiting -= 1
      state.isBusy = true
      return ()
    }
  }

  func leave() { monitor.change { $0.isBusy = false } }
}
