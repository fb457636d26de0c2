import StrandlineServer
import Testing

@Suite("Atomic pushes") struct AtomicPushTests {
  private static let denied = Mutation.insert("m3", "c", ["owner": "bob"])

  @Test("the first rejection undoes everything, and the same bytes may be sent again")
  func abort() async throws {
    let test = try await TestServer(["notes": ServerTable(bucketColumn: "owner", keepsJournal: true)])
    try await test.own("notes", "old", ["owner": "ann", "n": 1])
    let batch: [Mutation] = [
      .insert("m1", "a", ["owner": "ann"]), .update("m2", "old", ["n": 2]), .delete("m4", "old"), Self.denied,
      .insert("m5", "e", ["owner": "ann"]),
    ]
    let abort = PushAnswer(
      abort: .init(outcome: "aborted", offenderMutationID: "m3", reason: "RLS_DENIED", serverRow: nil))
    for _ in 1...2 {
      #expect(try await test.push(batch, isAtomic: true) == abort)
      #expect(try await test.highMark == 1)
      #expect(try await test.server.row("old", in: "notes") == ["owner": "ann", "n": 1])
      #expect(try await test.server.row("a", in: "notes") == nil)
    }
    // No verdict of the attempts was kept.
    #expect(try await test.push([Self.denied.with { $0.columns = ["owner": "ann"] }]).verdicts == [.applied("m3")])
    // Now its id is known as applied, and the batch goes through.
    let verdicts = try await test.push(batch, isAtomic: true).verdicts
    #expect(verdicts == ["m1", "m2", "m4", "m3", "m5"].map { .applied($0) })
    #expect(try await test.highMark == 6)
  }

  @Test("the answer tells the offender's row with what the earlier members did")
  func serverRow() async throws {
    let test = try await TestServer(["notes": ServerTable(bucketColumn: "owner")])
    let answer = try await test.push(
      [.insert("m1", "a", ["owner": "ann", "n": 1]), .update("m2", "a", ["owner": "bob"])], isAtomic: true)
    #expect(
      answer
        == PushAnswer(
          abort: .init(
            outcome: "aborted", offenderMutationID: "m2", reason: "RLS_DENIED", serverRow: ["owner": "ann", "n": 1])))
    #expect(try await test.server.row("a", in: "notes") == nil)
  }

  @Test("a replayed rejection aborts, a replayed success does not")
  func replays() async throws {
    let test = try await TestServer(["notes": ServerTable(bucketColumn: "owner")])
    _ = try await test.push([.insert("m1", "a", ["owner": "ann"]), Self.denied])
    let good = try await test.push([.insert("m1", "a"), .insert("m6", "f", ["owner": "ann"])], isAtomic: true)
    #expect(good.verdicts == [.applied("m1"), .applied("m6")])
    let bad = try await test.push([.insert("m7", "g", ["owner": "ann"]), Self.denied], isAtomic: true)
    #expect(bad.abort?.offenderMutationID == "m3")
    #expect(try await test.server.row("g", in: "notes") == nil)
  }

  @Test("no mutations, an empty list")
  func empty() async throws {
    let test = try await TestServer(["notes": ServerTable()])
    #expect(try await test.push([], isAtomic: true) == PushAnswer(verdicts: []))
    #expect(try await test.push([]) == PushAnswer(verdicts: []))
    #expect(try await test.highMark == 0)
  }
}
