import StrandlineTestSupport
import Testing

@testable import StrandlineLog

/// Groups of commits that need more than one new segment.
struct GroupRollTests {
  private let directory = TemporaryDirectory()

  @Test(.timeLimit(.minutes(1)))
  func `readers, backups and kept copies see every segment of a group that rolls more than once`() throws {
    var options = LogOptions()
    options.helpers = .callerRuns
    options.segmentByteCountMax = 4096
    options.spaceAheadByteCount = 64 << 10
    let log = try Log.open(at: directory.path + "/store", options: options)
    let records = (0..<20).map { [UInt8](repeating: UInt8($0), count: 3000) }
    // As one group, the way a leader hands it over.
    let members = try records.map { record in
      var draft = log.draft()
      try draft.append(record)
      return PendingCommit(frames: draft.frames(), durability: .synced)
    }
    log.core.enterAsLeader()
    log.core.write(members)
    log.core.leave()
    for (index, member) in members.enumerated() {
      #expect(try member.outcome.get().sequence == SequenceNumber(UInt64(index + 1)))
    }

    func check(_ log: Log) throws {
      let reader = try log.read(after: .start)
      for record in records { #expect(try reader.next()?.records == [record]) }
    }
    try check(log)
    let backup = directory.path + "/backup"
    try log.backup(to: backup)
    let kept = try #require(try log.reset(keepCopy: true).keptCopy)
    try log.close()
    for copy in [backup, kept] {
      let opened = try Log.open(at: copy, options: options)
      #expect(opened.openReport.commitCount == records.count)
      try check(opened)
    }
  }
}
