@_spi(Engine) internal import StrandlineLog

/// Who may enter the writer lane, and which commits are on their way to the disk.
///
/// A commit is *pending* from the moment it has its number until its writer has been told what came of it.
struct WriteGate: ~Copyable, Sendable {
  struct Pending {
    /// Never used twice, unlike the number.
    var token: UInt64
    var sequence: UInt64
    /// The tables as they were before it.
    var tablesBefore: Tables
  }

  struct State {
    var pending: [Pending] = []
    var nextToken: UInt64 = 0
    /// Operations that need the lane without any commit on its way: reset, close.
    var exclusiveWaiting = 0
    /// The memory layer is full and the one in front of it is not written out yet.
    var isStalled = false
    /// Memory layers that were written out.
    var writtenOutCount: UInt64 = 0
    /// Why the last attempt to write one out failed.
    var writeOutFailure: StoreError?
    /// Why the last commit was refused that no other had taken along.
    var commitFailure: StoreError?
    var isClosed = false
  }

  private let monitor = Monitor(State())

  /// Whether a writer may enter the lane without waiting.
  func passAtOnce() throws(StoreError) -> Bool {
    try monitor.look { (state) throws(StoreError) in
      if state.isClosed { throw .closed }
      return !state.isStalled && state.exclusiveWaiting == 0
    }
  }

  /// Waits until a writer may enter the lane; answers whether it had to wait for compaction.
  ///
  /// - Throws: what writing out failed with, if the store is full of commits that cannot be written out.
  func passAsWriter() throws(StoreError) -> Bool {
    var waited = false
    let failure: StoreError?? = monitor.wait { state -> StoreError?? in
      if state.isClosed { return .some(.closed) }
      if state.isStalled {
        if let failure = state.writeOutFailure { return .some(failure) }
        waited = true
        return nil
      }
      return state.exclusiveWaiting == 0 ? .some(nil) : nil
    }
    if let failure, let failure { throw failure }
    return waited
  }

  /// Keeps writers out and waits until no commit is on its way, then runs `body`; again as long as that answers nil.
  ///
  /// A writer that passed before may still be on its way into the lane. Whoever needs none on its way takes the lane in `body`, and answers
  /// nil if ``hasPending`` then.
  func exclusively<Result>(_ body: () throws(StoreError) -> Result?) throws(StoreError) -> Result {
    monitor.look { $0.exclusiveWaiting += 1 }
    defer { monitor.change { $0.exclusiveWaiting -= 1 } }
    while true {
      let isClosed: Bool = monitor.wait { state -> Bool? in
        if state.isClosed { return true }
        return state.pending.isEmpty ? false : nil
      }
      if isClosed { throw .closed }
      if let result = try body() { return result }
    }
  }

  /// Whether a commit is on its way. In the lane it stays false once it is.
  var hasPending: Bool { monitor.look { !$0.pending.isEmpty } }

  /// Notes a commit; called in the lane. Answers its token.
  func begin(_ sequence: UInt64, tablesBefore: Tables) -> UInt64 {
    monitor.look { state in
      state.nextToken += 1
      state.pending.append(Pending(token: state.nextToken, sequence: sequence, tablesBefore: tablesBefore))
      return state.nextToken
    }
  }

  /// The commit is in the log.
  func end(_ token: UInt64) { monitor.change { state in state.pending.removeAll { $0.token == token } } }

  /// The commit is not in the log, and so is none behind it. Answers where the lane has to go back to; nil if that has been done.
  func fail(_ token: UInt64) -> Pending? {
    monitor.change { state -> Pending? in
      guard let index = state.pending.firstIndex(where: { $0.token == token }) else { return nil }
      let first = state.pending[index]
      state.pending.removeSubrange(index...)
      return first
    }
  }

  /// Waits until no commit up to `sequence` is on its way. False if the store was closed meanwhile.
  func waitForCommits(through sequence: UInt64) -> Bool {
    monitor.wait { state -> Bool? in
      if state.isClosed { return false }
      return state.pending.contains { $0.sequence <= sequence } ? nil : true
    }
  }

  /// Holds a writer up; a memory layer that is written out meanwhile, or the end, lets him go.
  func pause(nanoseconds: UInt64) {
    let before = monitor.look { $0.writtenOutCount }
    _ = monitor.wait(nanoseconds: nanoseconds) { state in
      state.isClosed || state.writtenOutCount != before ? true : nil
    }
  }

  /// A memory layer was written out: whoever waits for that goes on.
  func noteWrittenOut() {
    monitor.change { state in
      state.writtenOutCount &+= 1
      state.isStalled = false
    }
  }

  func stall(_ isStalled: Bool) { monitor.change { $0.isStalled = isStalled } }
  func noteWriteOut(failure: StoreError?) { monitor.change { $0.writeOutFailure = failure } }
  var writeOutFailure: StoreError? { monitor.look { $0.writeOutFailure } }
  func noteCommit(failure: StoreError) { monitor.look { $0.commitFailure = failure } }
  var commitFailure: StoreError? { monitor.look { $0.commitFailure } }
  /// A writer would have to wait for something else than the disk.
  var isBusy: Bool {
    monitor.look { !$0.isClosed && ($0.exclusiveWaiting > 0 || $0.isStalled && $0.writeOutFailure == nil) }
  }
  var isClosed: Bool { monitor.look { $0.isClosed } }
  var isStalled: Bool { monitor.look { $0.isStalled } }

  /// Refuses everybody from now on; false if that was so before.
  func close() -> Bool {
    monitor.change { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
  }
}
