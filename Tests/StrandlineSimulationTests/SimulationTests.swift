import StrandlineTestSupport
import Testing

/// Several devices and a server in one process: the network loses, doubles, delays and reorders, machines die and lose power, clocks jump,
/// users change, and after quiet all hold the same.
struct SimulationTests {
  @Test(.enabled(if: Simulation.chosenSeed == nil))
  func `whatever happens on the way, all devices end with what the server has`() async {
    let reports = await withTaskGroup(of: [(UInt64, Simulation.Report)].self) { group in
      let laneCount = 4
      for lane in 1...laneCount {
        group.addTask {
          var reports: [(UInt64, Simulation.Report)] = []
          for number in stride(from: lane, through: Simulation.seedCount, by: laneCount) {
            let seed = Simulation.seed(number)
            var report = await Simulation.run(seed)
            if report.failure == nil { report.trace = [] }
            reports.append((seed, report))
          }
          return reports
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    let failed = reports.filter { $0.1.failure != nil }.sorted { $0.0 < $1.0 }
    // One whole story is enough to begin with.
    for (number, (seed, report)) in failed.enumerated() {
      Issue.record("\(number == 0 ? Simulation.story(seed, report) : "seed \(seed): \(report.failure ?? "")")")
    }
    // The world is not too small to say anything.
    let census = reports.reduce(into: [String: Int]()) { $0.merge($1.1.census, uniquingKeysWith: +) }
    for event in Self.events { #expect(census[event] != nil, "\(event) does not come up") }
    print("simulation: \(reports.count) runs; \(census.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" })")
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
