import StrandlineTestSupport
import Testing

@testable import StrandlineLog

/// A write is cut off in the middle, by a power cut in a block or by a kill between two pages.
struct TornWritesTests {
  private static let fills: [PowerLossPolicy.TornFill] = [.zeros, .old, .ones, .random(seed: 5)]

  @Test func `a frame cut at any byte is there whole or not at all`() throws {
    let disk = SimulatedDisk()
    var model = CommitModel()
    let log = try RecoveredLog.open(disk, seed: 1).log
    for size in [0, 30, 90] {
      let records = [[UInt8](repeating: UInt8(size), count: size), [7]]
      model.append(records)
      try log.append(records)
    }
    let records = [[UInt8](repeating: 9, count: 120), []]
    model.append(records)
    try log.append(records, durability: .buffered)

    let image = disk.image
    var promises = Promises()
    promises.attempted = 4
    promises.survivesPower = 3
    let point = CrashPoint(image: image, promises: promises, model: model, call: nil)
    let findings = Findings()
    var stateCount = 0
    for atom in image.pendingAtoms.indices {
      guard let bytes = image.tearableBytes(ofAtom: atom) else { continue }
      for cut in bytes.lowerBound...bytes.upperBound {
        for fill in Self.fills {
          for others in [PowerLossPolicy.dropAll, .keepAll] {
            let policy = PowerLossPolicy.torn(atom: atom, at: cut, behind: fill, others: others)
            let oracle = RecoveryOracle(cut: point, seed: UInt64(stateCount))
            if let complaint = oracle.check(image.powerLoss(keeping: policy), deeply: stateCount % 16 == 0) {
              findings.add("\(complaint): \(policy)")
            }
            stateCount += 1
          }
        }
      }
    }
    print("frame cut at every byte: \(stateCount) states")
    #expect(stateCount > 1_000)
    findings.report { Issue.record("\($0)") }
  }

  @Test(arguments: CrashScale.sampleSeeds)
  func `a torn block at any call keeps what was acknowledged and invents nothing`(seed: UInt64) throws {
    let run = try CrashPoints(.long(seed: seed &+ 1))
    let points = run.points.filter { $0.image.pendingAtoms.contains(where: \.isContent) }
    var generator = SeededGenerator(seed: seed)
    let findings = Findings()
    for index in 0..<CrashScale.tornStateCount {
      let point = points[index % points.count]
      let atoms = point.image.pendingAtoms
      let blocks = atoms.indices.filter { atoms[$0].isContent }
      // Mostly the last write, which is the one that a power cut meets.
      let atom = Bool.random(using: &generator) ? blocks.last! : blocks.randomElement(using: &generator)!
      let bytes = point.image.tearableBytes(ofAtom: atom)!
      let others: [PowerLossPolicy] = [.dropAll, .keepAll, .keepFirst(atom), .random(seed: generator.next())]
      let policy = PowerLossPolicy.torn(
        atom: atom, at: Int.random(in: bytes, using: &generator), behind: Self.fills.randomElement(using: &generator)!,
        others: others.randomElement(using: &generator)!)
      let oracle = RecoveryOracle(cut: point, seed: seed << 32 | UInt64(index) << 8)
      if let complaint = oracle.check(point.image.powerLoss(keeping: policy), deeply: index % 32 == 0) {
        findings.add("\(complaint)\n  \(run.description(point, "\(policy) of \(atoms.count) changes"))")
      }
    }
    print("torn blocks: seed \(seed &+ 1), \(points.count) calls, \(CrashScale.tornStateCount) states")
    findings.report { Issue.record("\($0)") }
  }

  @Test(arguments: CrashScale.sampleSeeds)
  func `a process killed in the middle of a write leaves a store that opens`(seed: UInt64) throws {
    let run = try CrashPoints(.long(seed: seed &+ 2), keepsBytes: true)
    let entries = run.recorder.entries
    let points = run.points.filter { $0.call?.operation == .write }
    var generator = SeededGenerator(seed: seed)
    let findings = Findings()
    for index in 0..<CrashScale.halfWrittenStateCount {
      let point = points[index % points.count]
      guard let call = point.call, case .call(_, _, let written?) = entries[point.traceCount], written.count > 1 else {
        continue
      }
      let count = [1, written.count / 2, written.count - 1, Int.random(in: 1..<written.count, using: &generator)]
        .randomElement(using: &generator)!
      let disk = SimulatedDisk(point.image)
      try disk.overwrite(call.path, Array(written.prefix(count)), at: call.offset ?? 0)
      let isCut = Bool.random(using: &generator)
      let image = isCut ? disk.image.powerLoss(keeping: .random(seed: generator.next())) : disk.image
      let id = seed << 32 | UInt64(index) << 8
      let oracle = isCut ? RecoveryOracle(cut: point, seed: id) : RecoveryOracle(killed: point, seed: id)
      if let complaint = oracle.check(image, deeply: index % 4 == 0) {
        let what = "\(count) of \(written.count) bytes written, \(isCut ? "power cut" : "killed")"
        findings.add("\(complaint)\n  \(run.description(point, what))")
      }
    }
    print("half-written calls: seed \(seed &+ 2), \(points.count) writes, \(CrashScale.halfWrittenStateCount) states")
    findings.report { Issue.record("\($0)") }
  }
}

extension PendingAtom {
  fileprivate var isContent: Bool { if case .content = change { true } else { false } }
}
