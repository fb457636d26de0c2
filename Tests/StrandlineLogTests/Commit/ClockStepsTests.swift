import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

struct ClockStepsTests {
  @Test func `a clock that is set back delays no sync and changes no order`() throws {
    let disk = SimulatedDisk()
    let clock = ManualClock()
    let log = try RecoveredLog.open(disk, seed: 1, clock: clock).log
    try log.append([[1]], durability: .buffered)
    #expect(log.status.bufferedCommitCount == 1)
    clock.advance(by: .milliseconds(200))
    clock.jumpWall(to: 1_000)
    try log.append([[2]], durability: .buffered)
    #expect(log.status.bufferedCommitCount == 0)
    let recovered = try RecoveredLog.open(disk.powerLoss(keeping: .dropAll), seed: 2)
    #expect(recovered.entries.map(\.sequence) == [1, 2])
  }
}
