import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// A GAP accounts for every number from the commit in front of it on, no more and no fewer.
struct GapTests {
  private let store = DamagedLog()

  /// Five commits, then a GAP with right tags.
  private func forge(_ gap: GapPayload) throws {
    try store.append(0..<5)
    try store.forge(
      {
        $0.kind = .gap
        $0.sequence = gap.last
      }, payload: gap.encoded())
  }

  @Test func `a GAP that begins behind the last commit is replayed, and the numbers go on behind it`() throws {
    try forge(GapPayload(first: SequenceNumber(6), last: SequenceNumber(9), reason: .missing))
    let opened = try store.open()
    #expect(opened.records == DamagedLog.records(0..<5))
    #expect(try opened.log.append([[1]]).sequence == SequenceNumber(10))
    let reader = try opened.log.read()
    var gaps: [GapPayload] = []
    while let commit = try reader.next() {
      if case .gap(let gap) = commit.content { gaps.append(gap) }
    }
    #expect(gaps == [GapPayload(first: SequenceNumber(6), last: SequenceNumber(9), reason: .missing)])
  }

  @Test(arguments: [UInt64(1), 5, 7, 9])
  func `a GAP that leaves numbers out or denies commits is damage, and salvage keeps what it denies`(
    first: UInt64
  ) throws {
    try forge(GapPayload(first: SequenceNumber(first), last: SequenceNumber(9), reason: .missing))
    let gap = try #require(store.tail.last)
    let before = store.disk.image.hash()
    let refusal = try #require(store.refusal())
    #expect(refusal.reason == .frameDamaged)
    #expect(refusal.offset == Int64(gap.offset))
    #expect(refusal.isSingleBit == nil, "its tag is right")
    let readOnly = try store.open(access: .readOnly)
    #expect(readOnly.records == DamagedLog.records(0..<5))
    #expect(readOnly.log.openReport.damage?.offset == Int64(gap.offset))
    let report = try StoreInspector(path: DamagedLog.path, environment: SampleStore.environment(store.disk, seed: 5))
      .verify()
    #expect(report.refusal != nil)
    #expect(report.findings.contains { $0.code == .bodyDamaged && $0.severity == .corruption })
    #expect(store.disk.image.hash() == before)
    let salvaged = try Salvage.run(
      from: DamagedLog.path, to: "/new", environment: SampleStore.environment(store.disk, seed: 5))
    #expect(salvaged.commitCount == 5)
    #expect(salvaged.gaps == [GapPayload(first: SequenceNumber(6), last: SequenceNumber(9), reason: .damaged)])
  }
}
