import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// The roots that compaction publishes.
struct PublishedRootTests {
  @Test func `a root that was made before a reset is refused after it`() throws {
    let log = try RecoveredLog.open(SimulatedDisk(), seed: 1).log
    let anchor = try log.append([[1]])
    try log.reset(carrying: [[2]])
    #expect(throws: LogError.epochEnded(0)) { try log.publishRoot(layers: [], anchor: anchor, epoch: 0) }
    #expect(log.status.epoch == 1)
  }

  @Test func `a root names buffered commits only once they are synced`() throws {
    let disk = SimulatedDisk()
    let log = try RecoveredLog.open(disk, seed: 1).log
    try log.append([[1]])
    let anchor = try log.append([[2]], durability: .buffered)
    try log.publishRoot(layers: [], anchor: anchor, epoch: 0)
    let recovered = try RecoveredLog.open(disk.powerLoss(keeping: .dropAll), seed: 2)
    #expect(recovered.log.status.last == anchor)
  }
}
