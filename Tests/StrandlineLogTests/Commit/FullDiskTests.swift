import Glibc
import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

struct FullDiskTests {
  @Test func `a commit that finds no space leaves nothing, and the log goes on when there is some`() throws {
    let disk = SimulatedDisk()
    let faulty = FaultyFileSystem(disk)
    let log = try RecoveredLog.open(faulty, seed: 1).log
    faulty.setScript { call in
      call.operation == .write && call.name.hasSuffix(".log.tmp") ? .errno(Errno(ENOSPC)) : nil
    }
    var count: UInt64 = 0
    let record = [UInt8](repeating: 7, count: 1_500)
    for _ in 0..<3 {
      let error = #expect(throws: LogError.self) {
        while count < 100 {
          try log.append([record])
          count += 1
        }
      }
      guard case .outOfSpace = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(!disk.image.names(in: SmallStore.path).contains { $0.hasSuffix(".tmp") })
    }
    faulty.heal()
    #expect(try log.append([record]).sequence == SequenceNumber(count + 1))
    let recovered = try RecoveredLog.open(disk.powerLoss(keeping: .dropAll), seed: 2)
    #expect(recovered.entries.map(\.sequence) == Array(1...count + 1))
  }
}
