import Glibc
import StrandlineLog
import StrandlineTestSupport
import Testing

struct FaultyFileSystemTests {
  let disk = SimulatedDisk()
  let faulty: FaultyFileSystem

  init() throws {
    try disk.make("/a", [1, 2, 3, 4])
    try disk.sync(path: "/a")
    try disk.syncDirectory("/")
    faulty = FaultyFileSystem(disk)
  }

  @Test func `the n-th call of a kind fails once and the file is as before`() throws {
    faulty.fail([.write], call: 1, with: .errno(Errno(EIO)))
    try faulty.overwrite("/a", [9])
    #expect(throws: Errno(EIO)) { try faulty.overwrite("/a", [8]) }
    try faulty.overwrite("/a", [7])
    #expect(try disk.bytes(of: "/a") == [7, 2, 3, 4])
    #expect(faulty.counts[.write] == 3)
    #expect(faulty.struckCalls.map(\.operation) == [.write])
  }

  @Test func `any call can be the n-th, and for ever means until it heals`() throws {
    faulty.fail(call: 2, with: .errno(Errno(ENOSPC)), .forever)
    let file = try faulty.open("/a", .readWrite)
    try faulty.put(file, [5], at: 0)
    #expect(throws: Errno(ENOSPC)) { try faulty.put(file, [6], at: 0) }
    #expect(throws: Errno(ENOSPC)) { try faulty.sync(file) }
    faulty.heal()
    try faulty.sync(file)
    #expect(try disk.powerLoss(keeping: .dropAll).bytes(of: "/a") == [5, 2, 3, 4])
  }

  @Test func `an interrupted call can be interrupted k times`() throws {
    faulty.fail([.open], with: .errno(Errno(EINTR)), .times(3))
    for _ in 0..<3 { #expect(throws: Errno(EINTR)) { try faulty.open("/a", .read) } }
    #expect(throws: Never.self) { try faulty.open("/a", .read) }
  }

  @Test(arguments: [(Fault.ShortLength.oneByte, 1), (.half, 2), (.allButOne, 3)])
  func `a short read or write moves as much as it says`(length: Fault.ShortLength, count: Int) throws {
    let file = try faulty.open("/a", .readWrite)
    faulty.fail([.read, .write], with: .short(length), .times(2))
    #expect(throws: ShortWrite(count: count)) { try faulty.put(file, [9, 9, 9, 9], at: 0) }
    var buffer = [UInt8](repeating: 0, count: 4)
    let moved = try buffer.withUnsafeMutableBytes { try faulty.read(file, into: $0, at: 0) }
    #expect(moved == count)
  }

  @Test func `a dead process changes nothing more`() throws {
    let file = try faulty.open("/a", .readWrite)
    faulty.crash(after: 1)
    try faulty.put(file, [9], at: 0)
    #expect(throws: Errno(ESHUTDOWN)) { try faulty.put(file, [8], at: 0) }
    #expect(throws: Errno(ESHUTDOWN)) { try faulty.close(file) }
    faulty.heal()
    #expect(throws: Errno(ESHUTDOWN)) { try faulty.open("/a", .read) }
    #expect(faulty.isCrashed)
    #expect(try disk.bytes(of: "/a") == [9, 2, 3, 4])
  }

  @Test func `a process can die in the middle of a write`() throws {
    let file = try faulty.open("/a", .readWrite)
    faulty.fail([.write], with: .crash(bytesWritten: 2))
    #expect(throws: Errno(ESHUTDOWN)) { try faulty.put(file, [9, 9, 9], at: 0) }
    #expect(try disk.bytes(of: "/a") == [9, 9, 3, 4])
  }

  @Test func `a sync that fails can lose what it was to write`() throws {
    let file = try faulty.open("/a", .readWrite)
    try faulty.put(file, [9], at: 0)
    faulty.fail([.syncData], with: .failedSync(Errno(EIO), losing: .all))
    #expect(throws: Errno(EIO)) { try faulty.syncData(file) }
    try faulty.syncData(file)
    #expect(try disk.bytes(of: "/a") == [9, 2, 3, 4])
    #expect(try disk.powerLoss(keeping: .keepAll).bytes(of: "/a") == [1, 2, 3, 4])
  }

  @Test func `a sync that fails can leave all dirty`() throws {
    let file = try faulty.open("/a", .readWrite)
    try faulty.put(file, [9], at: 0)
    faulty.fail([.syncData], with: .failedSync(Errno(EIO), losing: .none))
    #expect(throws: Errno(EIO)) { try faulty.syncData(file) }
    try faulty.syncData(file)
    #expect(try disk.powerLoss(keeping: .dropAll).bytes(of: "/a") == [9, 2, 3, 4])
  }

  @Test func `a close that fails has closed`() throws {
    let file = try faulty.open("/a", .read)
    faulty.fail([.close], with: .errno(Errno(EINTR)))
    #expect(throws: Errno(EINTR)) { try faulty.close(file) }
    #expect(disk.openDescriptorCount == 0)
  }

  @Test func `a script sees the call and its file's name, also after a rename`() throws {
    let file = try faulty.open("/a", .readWrite)
    try faulty.rename("/a", to: "/b", replacing: false)
    faulty.setScript { call in
      call.operation == .write && call.path == "/b" && call.offset == 2 ? .errno(Errno(EDQUOT)) : nil
    }
    try faulty.put(file, [9], at: 1)
    #expect(throws: Errno(EDQUOT)) { try faulty.put(file, [9], at: 2) }
  }

  @Test func `chance strikes the same calls for the same seed`() throws {
    func failures(seed: UInt64) throws -> [Int] {
      let faulty = FaultyFileSystem(disk)
      faulty.failRandomly([.statusAt], probability: 0.3, errnos: [Errno(EIO)], seed: seed)
      for _ in 0..<100 { _ = try? faulty.status(at: "/a") }
      return faulty.struckCalls.map(\.number)
    }
    let first = try failures(seed: 4)
    #expect(try failures(seed: 4) == first)
    #expect(try failures(seed: 5) != first)
    #expect((10...60).contains(first.count))
  }
}
