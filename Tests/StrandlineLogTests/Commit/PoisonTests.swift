import Glibc
import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// After a sync that failed nothing is acknowledged, and nothing is believed that only the cache holds.
struct PoisonTests {
  @Test func `a failed sync acknowledges nothing, makes nothing durable and ends all writing`() throws {
    let disk = SimulatedDisk()
    let faulty = FaultyFileSystem(disk)
    let log = try RecoveredLog.open(faulty, seed: 1).log
    let first = try log.append([[1]])
    faulty.fail([.syncData], with: .failedSync(Errno(EIO), losing: .all))
    #expect(throws: LogError.self) { try log.append([[2]]) }
    #expect(log.status.poison != nil)
    #expect(log.status.durable == first)
    let reader = try log.read()
    #expect(try reader.next()?.position == first)
    #expect(try reader.next() == nil)

    let writeCount = faulty.counts[.write]
    #expect(throws: LogError.self) { try log.append([[3]]) }
    #expect(throws: LogError.self) { try log.append([[3]], durability: .buffered) }
    #expect(throws: LogError.self) { try log.sync() }
    #expect(throws: LogError.self) { try log.reset() }
    #expect(faulty.counts[.write] == writeCount)
  }

  @Test func `what a failed sync dropped is not recovered from the cache`() throws {
    let disk = SimulatedDisk()
    let faulty = FaultyFileSystem(disk)
    let log = try RecoveredLog.open(faulty, seed: 1).log
    try log.append([[1]])
    faulty.fail([.syncData], with: .failedSync(Errno(EIO), losing: .all))
    #expect(throws: LogError.self) { try log.append([[2]]) }

    let killed = disk.kill()
    let recovered = try RecoveredLog.open(killed, seed: 2)
    let cut = try RecoveredLog.open(killed.powerLoss(keeping: .dropAll), seed: 3)
    #expect(recovered.entries == cut.entries)
  }

  @Test func `a sync that was interrupted has failed`() throws {
    let disk = try SmallStore.make(commitCount: 1)
    try RecoveredLog.open(disk, seed: 2).log.close()
    let faulty = FaultyFileSystem(disk)
    let log = try RecoveredLog.open(faulty, seed: 3).log
    // The first append after a clean close syncs META.
    faulty.fail([.syncData], with: .failedSync(Errno(EINTR), losing: .all))
    #expect(throws: LogError.self) { try log.append([[2]]) }
    #expect(log.status.poison != nil)
  }
}
