import Glibc
import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// Answers of the operating system that are no failure, and one that is.
struct CallAnswersTests {
  @Test(arguments: [Fault.short(.oneByte), .short(.half), .short(.allButOne), .errno(Errno(EINTR))])
  func `a write that was short or interrupted is carried on`(fault: Fault) throws {
    let disk = SimulatedDisk()
    let faulty = FaultyFileSystem(disk)
    let log = try RecoveredLog.open(faulty, seed: 1).log
    for value in 0..<20 {
      faulty.fail([.write], with: fault, .times(2))
      try log.append([[UInt8](repeating: UInt8(value), count: 1_000)])
    }
    let recovered = try RecoveredLog.open(disk.kill(), seed: 2)
    #expect(recovered.entries.map(\.sequence) == Array(1...20))
  }

  @Test func `no descriptor is closed twice, also when close is interrupted`() throws {
    let disk = SimulatedDisk()
    let faulty = FaultyFileSystem(disk)
    faulty.fail([.close], with: .errno(Errno(EINTR)), .forever)
    let recorder = RecordingFileSystem(faulty)
    do {
      let log = try RecoveredLog.open(recorder, seed: 1).log
      for value in 0..<20 { try log.append([[UInt8](repeating: UInt8(value), count: 1_000)]) }
      try log.reset()
      try log.close()
    }
    var closed: Set<FileDescriptor> = []
    for case .call(let call, _, _) in recorder.entries where call.operation == .close {
      let descriptor = try #require(call.descriptor)
      #expect(closed.insert(descriptor).inserted, "\(call)")
    }
    #expect(disk.openDescriptorCount == 0)
  }

  @Test func `a read that fails while the log is opened is not the end of anything`() throws {
    let store = try SmallStore.make(commitCount: 12).image
    let hash = RecoveryOracle.hash(store)
    let calm = FaultyFileSystem(SimulatedDisk(store))
    _ = try RecoveredLog.open(calm, seed: 2)
    for index in 0..<calm.counts[.read, default: 0] {
      let disk = SimulatedDisk(store)
      let faulty = FaultyFileSystem(disk)
      faulty.fail([.read], call: index, with: .errno(Errno(EIO)))
      do {
        let recovered = try RecoveredLog.open(faulty, seed: 2)
        #expect(recovered.entries.count == 12, "read \(index)")
      } catch {
        guard case LogError.ioFailed = error else {
          Issue.record("read \(index): \(error)")
          continue
        }
        #expect(RecoveryOracle.hash(disk.image) == hash, "read \(index)")
      }
    }
  }
}
