import StrandlineTestSupport
import Testing

/// Several devices and a server in one process: the network loses, doubles, delays and reorders, machines die and lose power, clocks jump,
/// users change, and after quiet all hold the same.
struct SimulationTests {
  private static let blockCount = 20

  @Test(.enabled(if: Simulation.chosenSeed == nil), arguments: 0..<blockCount)
  func `whatever happens on the way, all devices end with what the server has`(block: Int) async {
    var census: [String: Int] = [:]
    for number in stride(from: block + 1, through: Simulation.seedCount, by: Self.blockCount) {
      let seed = UInt64(number) &+ SoakScale.seed
      let report = await Simulation.run(seed)
      census.merge(report.census, uniquingKeysWith: +)
      if report.failure != nil {
        Issue.record("\(Simulation.story(seed, report))")
        return
      }
    }
    // The world is not too small to say anything.
    for event in Self.events { #expect(census[event] != nil, "\(event) does not come up: \(census)") }
  }

  private static let events = [
    "pull lost", "pull unanswered", "push lost", "push unanswered", "push late", "push twice", "late request",
    "refused for good", "dead letter", "abort", "applied", "DELETE_WINS", "RLS_DENIED", "CONSTRAINT", "PRECONDITION",
    "COLUMN_DENIED", "SUPERSEDED", "page with more", "closing page", "CHECKPOINT_EXPIRED", "RESET_REQUIRED", "reset",
    "reaped", "device died", "device died at a call",
  ]

  @Test(.enabled(if: Simulation.chosenSeed != nil))
  func `the chosen seed`() async {
    let seed = Simulation.chosenSeed ?? 1
    let report = await Simulation.run(seed)
    print(Simulation.story(seed, report))
    #expect(report.failure == nil)
  }

  @Test(arguments: [UInt64(1), 7, 42])
  func `a seed decides everything`(seed: UInt64) async {
    let first = await Simulation.run(seed)
    let second = await Simulation.run(seed)
    #expect(first.trace == second.trace)
  }

  @Test(arguments: PlantedFault.allCases)
  func `a wrong decision is found by some seed`(fault: PlantedFault) async {
    for seed in UInt64(1)...60 {
      let report = await Simulation.run(seed, fault: fault)
      if report.failure != nil { return }
    }
    Issue.record("\(fault) is found by no seed")
  }
}
