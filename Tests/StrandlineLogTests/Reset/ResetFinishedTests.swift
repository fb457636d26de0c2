import Glibc
import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// The steps of a reset behind its commit point: taken by the log, or by the open after a crash.
struct ResetFinishedTests {
  @Test(arguments: [false, true])
  func `a reset is finished once, with its base, whoever finishes it`(byOpen: Bool) throws {
    let disk = SimulatedDisk()
    let faulty = FaultyFileSystem(disk)
    let log = try RecoveredLog.open(faulty, seed: 1).log
    for value in 0..<20 { try log.append([[UInt8](repeating: UInt8(value), count: 1_500)]) }
    let layer = LayerEntry(
      id: 5, level: 0, firstSequence: SequenceNumber(1), lastSequence: SequenceNumber(20), byteCount: 100, footerTag: 1,
      salt: 2)
    let layerPath = "\(SmallStore.path)/\(layer.fileName)"
    disk.edit { $0.put(layerPath, [UInt8](repeating: 3, count: 100)) }
    if byOpen {
      faulty.setScript { call in
        call.operation == .write && call.name == RootSlot.fileName ? .errno(Errno(EIO)) : nil
      }
    }
    let report = try log.reset(carrying: [[1]], base: [layer])
    #expect(report.epoch == 1)

    let killed = disk.kill()
    let recovered = try RecoveredLog.open(killed, seed: 2)
    #expect(recovered.log.openReport.finishedReset == byOpen)
    let again = try RecoveredLog.open(killed.kill(), seed: 3)
    #expect(!again.log.openReport.finishedReset)
    for opened in [recovered, again] {
      #expect(opened.entries.map(\.sequence) == [21])
      #expect(opened.log.status.epoch == 1)
      #expect(opened.log.status.layers == [layer])
    }
    #expect(killed.image.exists(layerPath))
    #expect(SmallStore.segments(of: killed.image).count == 1)
  }
}
