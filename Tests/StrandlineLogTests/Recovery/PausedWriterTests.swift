import Glibc
import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// After a pause META itself says how far is synced, so the loss of the whole end of the log, with all that its frames said of it, is
/// known for damage.
struct PausedWriterTests {
  /// The disk of a process that was killed in a pause, and how many bytes of its only segment a sync had covered.
  private static func killedInPause() throws -> (disk: SimulatedDisk, end: Int) {
    let disk = SimulatedDisk()
    let environment = Environment(fileSystem: disk)
    var options = LogOptions()
    options.environment = environment
    options.segmentByteCountMax = 1 << 20
    options.spaceAheadByteCount = 64 << 10
    options.idleMarkInterval = .milliseconds(10)
    let log = try Log.open(at: SmallStore.path, options: options)
    for value in 1...6 { try log.append([[UInt8](repeating: UInt8(value), count: 100)]) }
    var end = 0
    while end == 0 {
      usleep(2000)
      let root = try StoreInspector(path: SmallStore.path, environment: environment).survey().root.root
      end = Int(root?.durableMark.rawValue ?? 0)
    }
    return withExtendedLifetime(log) { (disk.kill(), end) }
  }

  @Test func `the end of a log that was idle is missed at each length, cut off or zeroed`() throws {
    let (disk, end) = try Self.killedInPause()
    let image = disk.image
    let segment = try #require(SmallStore.segments(of: image).first)
    let first = SegmentHeader.blockByteCount
    #expect(try RecoveredLog.open(SimulatedDisk(image), seed: 2).entries.count == 6)
    var lossCount = 0
    for length in first..<end {
      for isZeroed in [false, true] {
        var damaged = image
        damaged.edit(segment) { bytes in
          if isZeroed {
            for index in length..<bytes.count { bytes[index] = 0 }
          } else {
            bytes.removeSubrange(length...)
          }
        }
        let hash = damaged.hash()
        let disk = SimulatedDisk(damaged)
        // Zeros at the very end of what was synced may be what stood there.
        guard isZeroed == false || damaged.hash() != image.hash() else { continue }
        lossCount += 1
        let error = #expect(throws: LogError.self, "\(length), zeroed: \(isZeroed)") {
          try RecoveredLog.open(disk, seed: 2)
        }
        guard case .corrupt(let report) = error else {
          Issue.record("\(length), zeroed: \(isZeroed): \(String(describing: error))")
          continue
        }
        #expect(report.file == segment)
        #expect(disk.image.hash() == hash)
      }
    }
    #expect(lossCount > end - first)
  }
}
