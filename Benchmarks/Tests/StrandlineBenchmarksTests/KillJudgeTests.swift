import Testing

@testable import StrandlineBenchmarks

struct KillJudgeTests {
  private func name(_ counter: UInt64, writer: UInt16 = 0) -> SoakRecord.CommitName {
    SoakRecord.CommitName(run: 1, writer: writer, counter: counter)
  }

  private func found(_ sequence: UInt64, _ counter: UInt64, writer: UInt16 = 0) -> KillJudge.Found {
    KillJudge.Found(name: name(counter, writer: writer), sequence: sequence)
  }

  private func judge(acknowledged count: UInt64, epoch: UInt64 = 0) -> KillJudge {
    var judge = KillJudge()
    for counter in 0..<count { judge.hear(.acknowledged(name(counter), sequence: counter + 1, epoch: epoch)) }
    return judge
  }

  @Test func `acknowledged commits and one in flight are fine`() {
    var judge = judge(acknowledged: 2)
    #expect(judge.complaint(epoch: 0, resetSequence: 0, commits: [found(1, 0), found(2, 1)]) == nil)
    #expect(judge.complaint(epoch: 0, resetSequence: 0, commits: [found(1, 0), found(2, 1), found(3, 2)]) == nil)
  }

  @Test(
    arguments: [
      [], [(1, 0)], [(1, 0), (2, 2)], [(1, 1), (2, 0)], [(1, 0), (3, 1)], [(1, 0), (2, 1), (3, 2), (4, 3)],
      [(2, 0), (3, 1)],
    ] as [[(UInt64, UInt64)]])
  func `lost, swapped, skipped and invented commits are noticed`(commits: [(UInt64, UInt64)]) {
    var judge = judge(acknowledged: 2)
    #expect(judge.complaint(epoch: 0, resetSequence: 0, commits: commits.map { found($0.0, $0.1) }) != nil)
  }

  @Test func `what was there once stays`() {
    var judge = judge(acknowledged: 1)
    #expect(judge.complaint(epoch: 0, resetSequence: 0, commits: [found(1, 0), found(2, 1)]) == nil)
    #expect(judge.complaint(epoch: 0, resetSequence: 0, commits: [found(1, 0)]) != nil)
  }

  @Test func `a reset that was acknowledged holds, one in flight may`() {
    var judge = judge(acknowledged: 2)
    judge.hear(.resetBegun(epoch: 1))
    var undone = judge
    #expect(undone.complaint(epoch: 0, resetSequence: 0, commits: [found(1, 0), found(2, 1)]) == nil)
    var done = judge
    #expect(done.complaint(epoch: 1, resetSequence: 3, commits: []) == nil)
    judge.hear(.resetAcknowledged(epoch: 1, sequence: 3))
    var acknowledged = judge
    #expect(acknowledged.complaint(epoch: 1, resetSequence: 3, commits: []) == nil)
    #expect(acknowledged.complaint(epoch: 1, resetSequence: 4, commits: []) != nil)
    #expect(acknowledged.complaint(epoch: 0, resetSequence: 0, commits: [found(1, 0), found(2, 1)]) != nil)
    #expect(acknowledged.complaint(epoch: 2, resetSequence: 5, commits: []) != nil)
  }

  @Test(arguments: [
    KillJudge.Word.acknowledged(.init(run: 3, writer: 7, counter: .max), sequence: 5, epoch: 2), .resetBegun(epoch: 9),
    .resetAcknowledged(epoch: 9, sequence: 12),
  ])
  func `words survive the pipe`(word: KillJudge.Word) {
    #expect(KillJudge.Word(line: word.line) == word)
  }

  @Test func `a record proves its own bytes`() throws {
    for index in 0..<200 {
      let record = SoakRecord(commit: name(UInt64(index)), index: UInt16(index), count: 200)
      var bytes = record.bytes(seed: 5)
      #expect(bytes.withUnsafeBytes { SoakRecord($0, seed: 5) } == record)
      bytes[bytes.count - 1] ^= 1
      #expect(bytes.withUnsafeBytes { SoakRecord($0, seed: 5) } == nil)
    }
  }
}
