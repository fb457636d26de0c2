import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// The order of calls that a crash rests on, read off the trace.
struct CallOrderTests {
  private func calls(_ recorder: RecordingFileSystem) -> [FileCall] {
    recorder.entries.compactMap { if case .call(let call, _, _) = $0 { call } else { nil } }
  }

  @Test func `a slot of META is synced before the other is written`() throws {
    let recorder = RecordingFileSystem(SimulatedDisk())
    try WorkloadRun(.short(seed: 1), on: recorder).run()
    var isDirty = false
    var writeCount = 0
    for call in calls(recorder) where call.path == SmallStore.rootPath {
      if call.operation == .write {
        #expect(!isDirty, "\(call)")
        isDirty = true
        writeCount += 1
      } else if call.operation == .syncData {
        isDirty = false
      }
    }
    #expect(writeCount > 10)
  }

  @Test func `old segments are removed lowest first, and the directory is synced behind them`() throws {
    let recorder = RecordingFileSystem(SimulatedDisk())
    let log = try RecoveredLog.open(recorder, seed: 1).log
    for value in 0..<40 { try log.append([[UInt8](repeating: UInt8(value), count: 1_500)]) }
    try log.reset()
    let all = calls(recorder)
    let removals = all.filter { $0.operation == .unlink && SegmentFileName($0.name) != nil }.map(\.name)
    #expect(removals.count > 4)
    #expect(removals == removals.sorted())
    let last = try #require(all.lastIndex { $0.operation == .unlink && SegmentFileName($0.name) != nil })
    #expect(all[last...].contains { $0.operation == .syncDirectory && $0.path == SmallStore.path })
  }

  @Test func `the cut of a torn tail is synced before anything else is done to the file`() throws {
    let disk = SimulatedDisk()
    let log = try RecoveredLog.open(disk, seed: 1).log
    try log.append([[1]])
    try log.append([[UInt8](repeating: 9, count: 3_000)], durability: .buffered)
    let recorder = RecordingFileSystem(disk.powerLoss(keeping: .keepLast(3)))
    let recovered = try RecoveredLog.open(recorder, seed: 2)
    #expect(recovered.log.openReport.cut != nil)
    let all = calls(recorder)
    let cut = try #require(all.firstIndex { $0.operation == .truncate })
    let next = all[(cut + 1)...].first { $0.path == all[cut].path }
    #expect(next?.operation == .sync)
  }
}
