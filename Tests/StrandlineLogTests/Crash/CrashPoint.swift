import StrandlineTestSupport

@testable import StrandlineLog

/// A disk at the moment when a process died, and what had been promised until then.
struct CrashPoint: Sendable {
  var image: DiskImage
  var promises: Promises
  /// All commits attempted until then, or more.
  var model: CommitModel
  /// The call that was about to be made; nil behind the last.
  var call: FileCall?
  /// Entries of the trace until then.
  var traceCount = 0

  var mayHold: ClosedRange<Int> { promises.survivesKill...promises.attempted }
}

/// A workload's run with the disk as it was before every call that changes it.
struct CrashPoints {
  var points: [CrashPoint] = []
  let recorder: RecordingFileSystem
  let workload: CrashWorkload

  /// Runs `workload` on an empty disk.
  init(_ workload: CrashWorkload, atomByteCount: Int = 512, keepsBytes: Bool = false) throws {
    let disk = SimulatedDisk(DiskImage(atomByteCount: atomByteCount))
    let taker = Taker()
    let recorder = RecordingFileSystem(disk, keepsBytes: keepsBytes) { call, moment in
      if moment == .before, call.operation.changesDisk { taker.take(disk, call) }
    }
    let run = WorkloadRun(workload, on: recorder)
    run.mark = { recorder.mark($0) }
    taker.run = run
    taker.recorder = recorder
    try run.run()
    taker.take(disk, nil)
    guard run.complaints.isEmpty else { throw Complaints(texts: run.complaints) }
    points = taker.points
    self.recorder = recorder
    self.workload = workload
    taker.run = nil
    taker.recorder = nil
  }

  /// Where to look when the state made from `point` fails.
  func description(_ point: CrashPoint, _ what: String) -> String {
    let operation = point.promises.operation
    let name = operation < 0 ? "first open" : "\(workload.operations[operation])"
    let trace = recorder.entries.prefix(point.traceCount).suffix(12).map(\.description).joined(separator: "\n    ")
    return """
      seed \(workload.seed), operation \(operation) (\(name)), \(what), before \
      \(point.call.map { "call \($0.number) \($0)" } ?? "the end")
          \(trace)
      """
  }

  struct Complaints: Error { var texts: [String] }

  /// Called on the one thread that runs the workload.
  private final class Taker: @unchecked Sendable {
    var run: WorkloadRun?
    var recorder: RecordingFileSystem?
    var points: [CrashPoint] = []

    func take(_ disk: SimulatedDisk, _ call: FileCall?) {
      guard let run, let recorder else { return }
      points.append(
        CrashPoint(
          image: disk.image, promises: run.promises, model: run.model, call: call, traceCount: recorder.entries.count))
    }
  }
}
