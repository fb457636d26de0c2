import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// What is kept in memory of the queue may name too much and never too little.
struct QueuedRowsTests {
  private struct Refused: Error {}

  @Test func `a commit that takes writes out and fails has left none out of what others see`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let written = try await TestClient.open(at: path)
    try await written.insert("p1", id: "m1")
    try await written.insert("p2", id: "m2")
    try await written.client.close()
    // Nothing is known in memory behind an open.
    let test = try await TestClient.open(at: path)
    let client = test.client
    let name = RowName(table: "todos", pk: "p1")
    await #expect(throws: (any Error).self) {
      try await client.commit(.transaction) { state in
        let entries = try state.pending(of: [name]).flatMap { $0 }
        client.queued.forget()
        try state.dequeue(entries)
        _ = try state.pending(of: [RowName(table: "todos", pk: "p2")])
        let seen = client.queued.seqs(of: [name]) { QueuedRows.Index() }
        #expect(seen.map(\.name) == [name])
        throw Refused()
      }
    }
    let left = try await client.commit(.transaction) { state in try state.pending(of: [name]) }
    #expect(left.map(\.count) == [1])
    try await client.close()
  }
}
