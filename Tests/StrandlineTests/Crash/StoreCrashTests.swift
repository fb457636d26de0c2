import Strandline
import StrandlineLog
import StrandlineTestSupport
import Testing

/// A process with a store of all kinds of work dies before each of its file calls: by a kill, by a power cut, and by a kill that a power cut
/// follows during the next open.
struct StoreCrashTests {
  /// A disk at the moment when the process died, and what had been promised until then.
  private struct Point {
    var image: DiskImage
    var model: StoreModel
    var copies: [String: StoreModel.State]
    var operation: Int
    var call: FileCall?
  }

  private final class Taker: @unchecked Sendable {
    var run: StoreRun?
    var points: [Point] = []

    func take(_ disk: SimulatedDisk, _ call: FileCall?) {
      guard let run else { return }
      points.append(
        Point(image: disk.image, model: run.model, copies: run.copies, operation: run.operation, call: call))
    }
  }

  private static func points(seed: UInt64, count: Int) throws -> (points: [Point], workload: StoreWorkload) {
    let workload = StoreWorkload(seed: seed, count: count)
    let disk = SimulatedDisk(DiskImage(atomByteCount: seed % 2 == 0 ? 4096 : 512))
    let taker = Taker()
    let recorder = RecordingFileSystem(disk) { call, moment in
      if moment == .before, call.operation.changesDisk { taker.take(disk, call) }
    }
    let run = StoreRun(workload, on: recorder)
    taker.run = run
    try run.run()
    taker.take(disk, nil)
    #expect(run.complaints.isEmpty, "\(run.complaints.prefix(3).joined(separator: "\n"))")
    taker.run = nil
    return (taker.points, workload)
  }

  /// Opens what the crash left and finds what is wrong; nil: nothing.
  private static func complaint(
    _ image: DiskImage, _ point: Point, afterPowerLoss: Bool, seed: UInt64
  ) -> String? {
    let disk = SimulatedDisk(image)
    do {
      let store = try StoreWorkload.open(disk, seed: seed)
      let found = try StoreWorkload.state(of: store)
      guard point.model.place(of: found, afterPowerLoss: afterPowerLoss) != nil else {
        return "a state that no prefix of the commits has, or one older than promised"
      }
      // And it goes on: write, compact, close, open.
      try store.write { (tx) throws(StoreError) in _ = try tx.put(["id": 39, "title": "afterwards"], into: "notes") }
      try store.compact()
      var expected = found
      expected["notes", default: [:]][39] = ["id": 39, "title": "afterwards"]
      guard try StoreWorkload.state(of: store) == expected else {
        return "after a write and compaction it shows something else"
      }
      try store.close()
      let again = try StoreWorkload.open(disk, seed: seed &+ 1)
      guard try StoreWorkload.state(of: again) == expected else {
        return "after close and open it shows something else"
      }
      try again.close()
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test(arguments: [UInt64(1), 2])
  func `a crash before any call keeps what was acknowledged and invents nothing`(seed: UInt64) throws {
    let (points, workload) = try Self.points(seed: seed &+ SoakScale.seed, count: 120)
    let stride = SoakScale.stride(of: points.count, running: 220)
    let findings = Findings()
    var stateCount = 0
    for (index, point) in points.enumerated() where index % stride == 0 || point.call == nil {
      let number = seed << 32 | UInt64(index) << 8
      let states: [(name: String, image: DiskImage, isCut: Bool)] = [
        ("killed", point.image, false), ("power cut, all dropped", point.image.powerLoss(keeping: .dropAll), true),
        ("power cut, all kept", point.image.powerLoss(keeping: .keepAll), true),
        ("power cut, some kept", point.image.powerLoss(keeping: .random(seed: number)), true),
      ]
      for state in states {
        stateCount += 1
        guard let complaint = Self.complaint(state.image, point, afterPowerLoss: state.isCut, seed: number) else {
          continue
        }
        let name = point.operation < 0 ? "first open" : "\(workload.operations[point.operation])"
        findings.add(
          "\(complaint)\n  seed \(seed), operation \(point.operation) (\(name)), \(state.name), "
            + "before \(point.call.map { "\($0)" } ?? "the end")")
      }
    }
    print("store, crash at every call: seed \(seed), \(points.count) calls, \(stateCount) states")
    findings.report { Issue.record("\($0)") }
  }

  @Test(arguments: [UInt64(3)])
  func `a kill, and a power cut during the open after it, lose nothing that was synced`(seed: UInt64) throws {
    let (points, _) = try Self.points(seed: seed &+ SoakScale.seed, count: 60)
    let stride = SoakScale.stride(of: points.count, running: 25)
    let findings = Findings()
    var stateCount = 0
    for (index, point) in points.enumerated() where index % stride == 0 {
      // Every call of the open that follows the kill is a place for the power to go.
      let disk = SimulatedDisk(point.image)
      let images = ImageList()
      let recorder = RecordingFileSystem(disk) { call, moment in
        if moment == .before, call.operation.changesDisk { images.append(disk.image) }
      }
      guard let store = try? StoreWorkload.open(recorder, seed: seed) else {
        findings.add("an open after a kill failed\n  seed \(seed), point \(index)")
        continue
      }
      _ = store
      for (call, image) in images.all.enumerated() {
        for policy in [PowerLossPolicy.dropAll, .random(seed: UInt64(call))] {
          stateCount += 1
          let complaint = Self.complaint(
            image.powerLoss(keeping: policy), point, afterPowerLoss: true, seed: seed &+ UInt64(call))
          if let complaint { findings.add("\(complaint)\n  seed \(seed), point \(index), call \(call) of the open") }
        }
      }
    }
    print("store, kill and power cut: seed \(seed), \(points.count) calls, \(stateCount) states")
    findings.report { Issue.record("\($0)") }
  }

  @Test func `copies hold what the store held when they were made`() throws {
    let (points, _) = try Self.points(seed: 5 &+ SoakScale.seed, count: 150)
    let last = try #require(points.last)
    #expect(!last.copies.isEmpty)
    let disk = SimulatedDisk(last.image.powerLoss(keeping: .dropAll))
    for (path, state) in last.copies {
      let store = try StoreWorkload.open(disk, seed: 9, at: path)
      #expect(
        try StoreWorkload.state(of: store).filter { !$0.value.isEmpty } == state.filter { !$0.value.isEmpty }, "\(path)"
      )
      try store.close()
    }
  }
}

private final class ImageList: @unchecked Sendable {
  private(set) var all: [DiskImage] = []
  func append(_ image: DiskImage) { all.append(image) }
}
