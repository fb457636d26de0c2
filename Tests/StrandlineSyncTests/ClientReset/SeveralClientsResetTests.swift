import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// Several clients of one server that lost its history.
struct SeveralClientsResetTests {
  @Test func `many clients are reset by one restore and converge`() async throws {
    let server = SmallServer()
    for number in 0..<20 { server.put("s\(number)", ["n": .int(Int64(number))]) }
    let count = 20 * min(5, SoakScale.factor)
    var clients: [ResetTest] = []
    for number in 0..<count {
      let mode = try ClientResetMode(text: ["recover", "discard", "recover-or-discard"][number % 3])
      clients.append(try await ResetTest.open(mode, server: server, ids: CountingIDs(from: number * 10_000)))
    }
    server.change { $0.pageRowCount = 50 }
    for client in clients { try await client.client.sync() }
    let backup = server.now.content
    for number in 0..<10 { server.put("lost\(number)", ["n": 1]) }
    for client in clients { try await client.client.sync() }
    for (number, client) in clients.enumerated() {
      try await client.update("s\(number % 20)", ["by": .int(Int64(number))])
      try await client.update("s0", [:], transforms: ["n": ["op": "increment", "by": 1]])
      try await client.insert("c\(number)", ["n": 1])
    }
    server.restore(backup)
    await withTaskGroup(of: Void.self) { group in
      for client in clients { group.addTask { try? await client.client.sync() } }
    }
    for client in clients { try await client.client.sync() }
    for client in clients { try await client.client.sync() }
    let expected = Dictionary(
      uniqueKeysWithValues: server.now.content.rows.map { ($0.key.pk, $0.value.columns) })
    let recovering = (0..<count).filter { $0 % 3 != 1 }.count
    #expect(expected["s0"]?["n"] == .int(Int64(recovering)), "each recovered increment counts once")
    #expect(expected.keys.filter { $0.hasPrefix("c") }.count == recovering)
    for client in clients {
      #expect(try await client.rows() == expected)
      #expect(try await client.reports().count == 1)
      try await client.client.close()
    }
  }

  @Test func `one store's failed reset leaves the others alone`() async throws {
    struct Oops: Error {}
    let server = SmallServer()
    let failing = try await ResetTest.open(.recoverUnsyncedChanges(before: { _ in throw Oops() }), server: server)
    let fine = try await ResetTest.open(server: server, ids: CountingIDs(from: 10_000))
    server.put("a", ["v": 1])
    try await failing.client.sync()
    try await fine.client.sync()
    server.restore()
    #expect(await resetReason { try await failing.client.sync() } == .beforeCallbackFailed)
    try await fine.client.sync()
    try await fine.insert("b", ["v": 2])
    try await fine.client.sync()
    #expect(server.columns("b") == ["v": 2])
    try await failing.client.close()
    try await fine.client.close()
  }
}
