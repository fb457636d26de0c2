import Glibc
import StrandlineTestSupport
import Testing

@testable import StrandlineLog

/// Any call of the operating system fails in any way, once or for ever; the trouble ends, and the log goes on.
struct FailingCallsTests {
  private struct Case: CustomStringConvertible {
    var fault: Fault
    var repetition: FaultyFileSystem.Repetition
    /// The kinds of call it makes sense for; nil is all.
    var operations: Set<FileOperation>?
    /// Whether the log must carry on as if nothing had happened.
    var isHarmless = false

    var description: String { "\(fault) \(repetition)" }
  }

  // A device that is interrupted or moves a byte at a time for ever would be asked for ever; those end after some calls.
  private static let cases: [Case] = {
    let restartable: Set<FileOperation> = [.open, .create, .read, .write, .allocate, .lockDirectory]
    var cases: [Case] = []
    for errno in [EIO, ENOSPC, EDQUOT, EAGAIN, EROFS, EFBIG] {
      for repetition in [FaultyFileSystem.Repetition.once, .forever] {
        cases.append(Case(fault: .errno(Errno(errno)), repetition: repetition))
      }
    }
    cases.append(Case(fault: .errno(Errno(EMFILE)), repetition: .once, operations: [.open, .create, .lockDirectory]))
    cases.append(
      Case(fault: .errno(Errno(EMFILE)), repetition: .forever, operations: [.open, .create, .lockDirectory]))
    for count in [1, 3] {
      cases.append(
        Case(fault: .errno(Errno(EINTR)), repetition: .times(count), operations: restartable, isHarmless: true))
      cases.append(Case(fault: .errno(Errno(EINTR)), repetition: .times(count)))
    }
    cases.append(Case(fault: .errno(Errno(EINTR)), repetition: .forever, operations: [.close], isHarmless: true))
    for length in [Fault.ShortLength.oneByte, .half, .allButOne] {
      for repetition in [FaultyFileSystem.Repetition.once, .times(5)] {
        cases.append(
          Case(fault: .short(length), repetition: repetition, operations: [.read, .write], isHarmless: true))
      }
    }
    cases.append(Case(fault: .nothing, repetition: .once, operations: [.write]))
    return cases
  }()

  @Test(arguments: 0..<CrashScale.shardCount)
  func `after any failure the log refuses or goes on, and keeps its promises`(shard: Int) throws {
    let workload = CrashWorkload.short(seed: CrashScale.seed &* 100 &+ UInt64(shard))
    let calm = FaultyFileSystem(SimulatedDisk())
    try WorkloadRun(workload, on: calm).run()
    let callCounts = calm.counts
    var generator = SeededGenerator(seed: workload.seed)
    let findings = Findings()
    var struck: [FileOperation: Int] = [:]
    for index in 0..<CrashScale.failingCallRunCount {
      let fault = Self.cases[index % Self.cases.count]
      let count = fault.operations?.reduce(0) { $0 + callCounts[$1, default: 0] } ?? calm.callCount
      let call = Int.random(in: 0..<count, using: &generator)
      let run = FaultedRun(workload, disk: SimulatedDisk())
      run.faulty.fail(fault.operations, call: call, with: fault.fault, fault.repetition)
      run.runAll()
      for operation in run.faulty.struckCalls.prefix(1).map(\.operation) { struck[operation, default: 0] += 1 }
      var complaints = run.complaints
      // A call that may end with EINTR and is not restarted may answer it; one that is may not.
      if fault.isHarmless, let error = run.errors.first { complaints.append("a harmless fault surfaced: \(error)") }
      complaints += run.finish(seed: generator.next(), closing: Bool.random(using: &generator))
      for complaint in complaints {
        findings.add(
          """
          \(complaint)
            seed \(workload.seed), \(fault) at call \(call) of \(fault.operations?.map(\.rawValue) ?? ["any"])
            struck \(run.faulty.struckCalls.first.map(\.description) ?? "nothing"), answered \(run.errors)
            \(run.recorder.trace(last: 14).replacing("\n", with: "\n    "))
          """)
      }
    }
    let kinds = struck.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue) \($0.value)" }
    print(
      "failing calls: seed \(workload.seed), \(calm.callCount) calls, \(CrashScale.failingCallRunCount) runs, "
        + "struck \(kinds.joined(separator: ", "))")
    findings.report { Issue.record("\($0)") }
  }
}
