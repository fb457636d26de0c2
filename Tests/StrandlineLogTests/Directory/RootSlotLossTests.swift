import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

struct RootSlotLossTests {
  /// Files are removed only when neither slot names them.
  @Test(arguments: [0, 1])
  func `either slot of META alone leads to the whole log after files were removed`(slot: Int) throws {
    let disk = SimulatedDisk()
    let log = try RecoveredLog.open(disk, seed: 1).log
    for value in 0..<20 { try log.append([[UInt8](repeating: UInt8(value), count: 1_500)]) }
    try log.reset(carrying: [[1]])
    var image = disk.image
    image.flip(SmallStore.rootPath, byte: slot * RootSlot.byteCount + 100, bit: 2)
    let recovered = try RecoveredLog.open(SimulatedDisk(image), seed: 2)
    #expect(recovered.entries.map(\.sequence) == [21])
    #expect(recovered.log.openReport.warnings.contains(.rootSlotDamaged(slot: slot)))
  }
}
