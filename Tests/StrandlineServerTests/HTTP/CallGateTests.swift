import Testing

@testable import StrandlineServer

@Suite("What is being sent") struct CallGateTests {
  @Test("answers take room until their lease is gone")
  func leases() throws {
    var limits = HTTPLimits()
    limits.answerByteCountPerUserMax = 100
    limits.answerByteCountOfAllMax = 150
    let gate = CallGate(limits)
    var first = gate.lease(60, of: "ann")
    #expect(first != nil)
    #expect(gate.lease(41, of: "ann") == nil)
    var second = gate.lease(40, of: "ann")
    #expect(second != nil)
    // Who reads nothing is not served, but may wait.
    #expect(gate.enter("ann", isWaiting: false) == .tooManyOfUser)
    #expect(gate.enter("ann", isWaiting: true) == nil)
    #expect(gate.enter("bob", isWaiting: false) == nil)
    #expect(gate.lease(51, of: "bob") == nil)
    first = nil
    // Alone among a user's, an answer may be as large as it is; never beyond what all have.
    #expect(gate.lease(111, of: "bob") == nil)
    var large = gate.lease(110, of: "bob")
    #expect(large != nil)
    #expect(gate.enter("ann", isWaiting: false) == nil)
    second = nil
    large = nil
    // Alone of all, too.
    large = gate.lease(1000, of: "bob")
    #expect(large != nil && first == nil && second == nil)
    #expect(gate.lease(1, of: "ann") == nil)
  }
}
