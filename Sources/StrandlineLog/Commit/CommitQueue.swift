internal import Glibc

/// Where commits wait, and who leads them to the disk.
///
/// The first to come leads: it takes everything that is queued, writes and syncs it, and hands the lead to one of those who came
/// meanwhile. A lone committer therefore never waits for another thread. Groups of async commits alone are led by the committer
/// thread, so that no thread of the concurrency pool blocks.
final class CommitQueue: Sendable {
  private struct State {
    /// Oldest first; the last one takes members.
    var groups: [CommitGroup] = [CommitGroup()]
    /// Someone leads the first group or has been asked to.
    var isLed = false
    /// Members of the group before: how many are likely to come again at once.
    var recentMemberCount = 1
  }

  private let state = Lock(State())
  private let lane: any WriteLaneOwner
  private let committer: HelperThread?

  /// - Parameter committer: leads groups that no thread waits for; nil if async callers lead themselves.
  init(lane: any WriteLaneOwner, committer: HelperThread?) {
    self.lane = lane
    self.committer = committer
  }

  /// Hands `member` in and returns when it has been answered. Blocks.
  func commit(_ member: PendingCommit) {
    let (group, leads) = join(member)
    wait(in: group, leading: leads)
  }

  /// Returns when the group of a member has been answered; writes it first if this caller was told to lead.
  func wait(in group: CommitGroup, leading leads: Bool) {
    if leads {
      lead(asSleeper: true)
      return
    }
    while true {
      let phase = group.word.value
      switch phase {
      case CommitGroup.Phase.done: return
      case CommitGroup.Phase.needsLeader:
        if group.word.exchange(phase, for: CommitGroup.Phase.led) {
          lead(asSleeper: true)
          return
        }
      default: group.word.sleep(while: phase)
      }
    }
  }

  /// Hands `member` in; its continuation is resumed when it has been answered. Never blocks if there is a committer thread.
  func submit(_ member: PendingCommit) {
    guard join(member).leads else { return }
    if let committer {
      committer.submit { [self] in lead(asSleeper: false) }
    } else {
      lead(asSleeper: false)
    }
  }

  /// Gives `member` its place. Who is told to lead owes the queue a call of ``wait(in:leading:)``.
  func join(_ member: PendingCommit) -> (group: CommitGroup, leads: Bool) {
    state.withLock { state in
      if state.groups[state.groups.count - 1].isFull { state.groups.append(CommitGroup()) }
      let group = state.groups[state.groups.count - 1]
      group.add(member)
      let leads = !state.isLed
      state.isLed = true
      return (group, leads)
    }
  }

  /// Writes the first group. The caller has been elected.
  ///
  /// - Parameter isSleeper: whether the caller is one of those who would sleep until the group is answered. The committer is not: a thread that
  ///   joined a group of tasks sleeps, though it is alone.
  private func lead(asSleeper isSleeper: Bool) {
    lane.enterAsLeader()
    gather()
    let group = state.withLock { state in
      let group = state.groups.removeFirst()
      if state.groups.isEmpty { state.groups.append(CommitGroup()) }
      state.recentMemberCount = group.members.count
      return group
    }
    lane.write(group.members)
    lane.leave()
    // The next leader first: waking many takes as long as a sync, and those who came meanwhile are synced in that time.
    let leadsOn = electNext()
    group.finish(ledBySleeper: isSleeper)
    if leadsOn { lead(asSleeper: false) }
  }

  /// Above this many, waking them takes longer than a sync, and two groups that take turns keep the device busy.
  private static let gatheredMemberCountMax = 16

  /// Gives those who were just woken the moment they need to come again: without it groups of one and of all the others would take
  /// turns, at half the rate. Evidence: Docs/Benchmarks.md, "append.synced.8writers" and "append.synced.64writers".
  private func gather() {
    let expected = state.withLock { $0.recentMemberCount }
    guard (2...Self.gatheredMemberCountMax).contains(expected) else { return }
    var count = state.withLock { $0.groups[0].members.count }
    var idleTurns = 0
    while count < expected, idleTurns < 3 {
      sched_yield()
      let now = state.withLock { $0.groups[0].members.count }
      idleTurns = now == count ? idleTurns + 1 : 0
      count = now
    }
  }

  /// Finds a leader for those who came meanwhile; true if it has to be the caller.
  private func electNext() -> Bool {
    let next: (group: CommitGroup, hasThreads: Bool)? = state.withLock { state in
      let first = state.groups[0]
      if first.members.isEmpty {
        state.isLed = false
        return nil
      }
      return (first, first.threadCount > 0)
    }
    guard let next else { return false }
    if next.hasThreads {
      next.group.word.set(CommitGroup.Phase.needsLeader, waking: 1)
    } else if let committer {
      committer.submit { [self] in lead(asSleeper: false) }
    } else {
      return true
    }
    return false
  }
}

/// What the queue needs of the log: the lane, and someone who writes while it is held.
protocol WriteLaneOwner: AnyObject, Sendable {
  func enterAsLeader()
  func leave()
  /// Writes the members and sets their outcomes. Called with the lane held.
  func write(_ members: [PendingCommit])
}
