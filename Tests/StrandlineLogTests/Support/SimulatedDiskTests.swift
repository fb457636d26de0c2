import Glibc
import StrandlineLog
import StrandlineTestSupport
import Testing

struct SimulatedDiskTests {
  let disk = SimulatedDisk()

  // MARK: What survives

  @Test func `an unsynced write survives the process and not the power`() throws {
    try disk.make("/a", [1, 2, 3])
    try disk.sync(path: "/a")
    try disk.syncDirectory("/")
    try disk.overwrite("/a", [9, 9])
    #expect(try disk.kill().bytes(of: "/a") == [9, 9, 3])
    #expect(try disk.powerLoss(keeping: .dropAll).bytes(of: "/a") == [1, 2, 3])
    #expect(try disk.powerLoss(keeping: .keepAll).bytes(of: "/a") == [9, 9, 3])
    #expect(try disk.kill().powerLoss(keeping: .dropAll).bytes(of: "/a") == [1, 2, 3])
  }

  @Test func `a synced file without a synced directory is gone`() throws {
    try disk.make("/a", [1])
    try disk.sync(path: "/a")
    #expect(disk.powerLoss(keeping: .dropAll).image.names(in: "/") == [])
    try disk.syncDirectory("/")
    #expect(try disk.powerLoss(keeping: .dropAll).bytes(of: "/a") == [1])
  }

  @Test func `a synced directory without a synced file keeps an empty file`() throws {
    try disk.make("/a", [1])
    try disk.syncDirectory("/")
    #expect(try disk.powerLoss(keeping: .dropAll).bytes(of: "/a") == [])
  }

  @Test func `a size kept without its contents reads as zeros and contents kept without a size do not exist`() throws {
    try disk.make("/a", [1, 2])
    try disk.syncDirectory("/")
    let atoms = disk.image.pendingAtoms
    guard atoms.count == 2, case .content = atoms[0].change, case .size(2) = atoms[1].change else {
      Issue.record("atoms: \(atoms)")
      return
    }
    #expect(try disk.powerLoss(keeping: .keepOnly(0)).bytes(of: "/a") == [])
    #expect(try disk.powerLoss(keeping: .keepOnly(1)).bytes(of: "/a") == [0, 0])
  }

  @Test func `a rename is one atom: the old name or the new one`() throws {
    try disk.make("/a.tmp", [1])
    try disk.sync(path: "/a.tmp")
    try disk.syncDirectory("/")
    try disk.rename("/a.tmp", to: "/a", replacing: false)
    #expect(disk.pendingAtomCount == 1)
    #expect(disk.powerLoss(keeping: .dropAll).image.names(in: "/") == ["a.tmp"])
    #expect(disk.powerLoss(keeping: .keepAll).image.names(in: "/") == ["a"])
  }

  @Test func `an unlink that was not synced gives the old file back whole`() throws {
    try disk.make("/a", [1, 2, 3])
    try disk.sync(path: "/a")
    try disk.syncDirectory("/")
    try disk.unlink("/a")
    try disk.make("/a", [7])
    #expect(try disk.powerLoss(keeping: .dropAll).bytes(of: "/a") == [1, 2, 3])
    #expect(try disk.powerLoss(keeping: .keepAll).bytes(of: "/a") == [7])
    try disk.syncDirectory("/")
    #expect(try disk.powerLoss(keeping: .dropAll).bytes(of: "/a") == [])
  }

  @Test func `a replaced file comes back when the rename over it is lost`() throws {
    try disk.make("/a", [1])
    try disk.sync(path: "/a")
    try disk.syncDirectory("/")
    try disk.make("/b", [2])
    try disk.sync(path: "/b")
    try disk.rename("/b", to: "/a", replacing: true)
    #expect(try disk.bytes(of: "/a") == [2])
    #expect(try disk.powerLoss(keeping: .dropAll).bytes(of: "/a") == [1])
  }

  @Test func `a directory that is lost takes all below it along`() throws {
    try disk.makeDirectory("/d")
    try disk.make("/d/a", [1])
    try disk.sync(path: "/d/a")
    try disk.syncDirectory("/d")
    #expect(disk.powerLoss(keeping: .dropAll).image.names(in: "/") == [])
    try disk.syncDirectory("/")
    #expect(try disk.powerLoss(keeping: .dropAll).bytes(of: "/d/a") == [1])
  }

  @Test func `a hard link counts both names, and a lost one is not counted`() throws {
    try disk.make("/a", [1])
    try disk.sync(path: "/a")
    try disk.syncDirectory("/")
    try disk.link("/a", to: "/b")
    #expect(try disk.status(at: "/a").linkCount == 2)
    #expect(try disk.powerLoss(keeping: .dropAll).status(at: "/a").linkCount == 1)
    try disk.unlink("/a")
    #expect(try disk.status(at: "/b").linkCount == 1)
    #expect(try disk.bytes(of: "/b") == [1])
  }

  @Test func `blocks of a file are kept and lost one by one`() throws {
    let old = [UInt8](repeating: 1, count: 1536)
    try disk.make("/a", old)
    try disk.sync(path: "/a")
    try disk.syncDirectory("/")
    try disk.overwrite("/a", [UInt8](repeating: 2, count: 1536))
    #expect(disk.pendingAtomCount == 3)
    for mask in UInt64(0)..<8 {
      let bytes = try disk.powerLoss(keeping: .keepMask(mask)).bytes(of: "/a")
      for block in 0..<3 {
        let expected: UInt8 = mask & (1 << UInt64(block)) != 0 ? 2 : 1
        #expect(bytes[block * 512..<block * 512 + 512].allSatisfy { $0 == expected }, "mask \(mask), block \(block)")
      }
    }
  }

  @Test func `a block written twice was written back at either time or not at all`() throws {
    try disk.make("/a", [0, 0])
    try disk.sync(path: "/a")
    try disk.syncDirectory("/")
    try disk.overwrite("/a", [1], at: 0)
    try disk.overwrite("/a", [2], at: 1)
    let outcomes = try (UInt64(0)..<4).map { try disk.powerLoss(keeping: .keepMask($0)).bytes(of: "/a") }
    #expect(outcomes == [[0, 0], [1, 0], [1, 2], [1, 2]])
  }

  @Test func `kept sizes keep earlier cuts, so bytes that were cut away do not come back as the file grows`() throws {
    try disk.make("/a", [1, 2, 3, 4])
    try disk.sync(path: "/a")
    try disk.syncDirectory("/")
    let file = try disk.open("/a", .readWrite)
    try disk.truncate(file, to: 1)
    try disk.truncate(file, to: 3)
    #expect(try disk.powerLoss(keeping: .dropAll).bytes(of: "/a") == [1, 2, 3, 4])
    #expect(try disk.powerLoss(keeping: .keepOnly(0)).bytes(of: "/a") == [1])
    #expect(try disk.powerLoss(keeping: .keepOnly(1)).bytes(of: "/a") == [1, 0, 0])
  }

  @Test(arguments: [
    (PowerLossPolicy.TornFill.zeros, [UInt8]([1, 7, 7, 0, 0, 1])), (.old, [1, 7, 7, 1, 1, 1]),
    (.ones, [1, 7, 7, 0xFF, 0xFF, 1]),
  ])
  func `a torn block is new up to the cut and what was not written stays`(
    fill: PowerLossPolicy.TornFill, expected: [UInt8]
  ) throws {
    try disk.make("/a", [UInt8](repeating: 1, count: 6))
    try disk.sync(path: "/a")
    try disk.syncDirectory("/")
    try disk.overwrite("/a", [7, 7, 7, 7], at: 1)
    #expect(disk.image.tearableBytes(ofAtom: 0) == 1..<5)
    let torn = disk.powerLoss(keeping: .torn(atom: 0, at: 3, behind: fill, others: .dropAll))
    #expect(try torn.bytes(of: "/a") == expected)
  }

  @Test func `a random subset is the same for the same seed`() throws {
    for name in 0..<40 { try disk.make("/\(name)") }
    let hashes = (UInt64(0)..<50).map { disk.image.powerLoss(keeping: .random(seed: $0)).hash() }
    #expect(hashes == (UInt64(0)..<50).map { disk.image.powerLoss(keeping: .random(seed: $0)).hash() })
    #expect(Set(hashes).count > 45)
  }

  // MARK: Failed syncs

  @Test func `a failed sync that drops blocks shows the new bytes until the cache is dropped`() throws {
    try disk.make("/a", [1])
    try disk.sync(path: "/a")
    try disk.syncDirectory("/")
    let file = try disk.open("/a", .readWrite)
    try disk.put(file, [2], at: 0)
    disk.failSync(descriptor: file.rawValue, losing: .all)
    try disk.syncData(file)
    #expect(try disk.bytes(of: "/a") == [2])
    #expect(try disk.kill().bytes(of: "/a") == [2])
    #expect(try disk.powerLoss(keeping: .keepAll).bytes(of: "/a") == [1])
    try disk.dropCache(file, from: 0)
    #expect(try disk.bytes(of: "/a") == [1])
  }

  @Test func `a write to a block that a failed sync dropped makes all of it dirty again`() throws {
    try disk.make("/a", [1, 1])
    try disk.sync(path: "/a")
    try disk.syncDirectory("/")
    let file = try disk.open("/a", .readWrite)
    try disk.put(file, [2], at: 0)
    disk.failSync(descriptor: file.rawValue, losing: .all)
    try disk.put(file, [3], at: 1)
    try disk.dropCache(file, from: 0)
    try disk.syncData(file)
    #expect(try disk.powerLoss(keeping: .dropAll).bytes(of: "/a") == [2, 3])
  }

  @Test func `dropping the cache keeps dirty blocks`() throws {
    try disk.make("/a", [1])
    let file = try disk.open("/a", .read)
    try disk.dropCache(file, from: 0)
    #expect(try disk.bytes(of: "/a") == [1])
  }

  // MARK: Space

  @Test func `a full disk takes no new block and overwrites the old ones`() throws {
    try disk.make("/a", [UInt8](repeating: 1, count: 1024))
    try disk.make("/b")
    disk.edit { $0.byteCountMax = 1024 + 512 }
    let file = try disk.open("/b", .readWrite)
    #expect(throws: ShortWrite(count: 512)) {
      try disk.put(file, [UInt8](repeating: 2, count: 1024), at: 0)
    }
    #expect(throws: Errno(ENOSPC)) { try disk.put(file, [2], at: 512) }
    try disk.overwrite("/a", [UInt8](repeating: 3, count: 1024))
    #expect(throws: Errno(ENOSPC)) { try disk.allocate(file, 512..<1024) }
    try disk.unlink("/a")
    try disk.syncDirectory("/")
    try disk.put(file, [2], at: 512)
  }

  @Test func `allocated space reads as zeros and is there when the disk is full`() throws {
    try disk.make("/a", [5])
    let file = try disk.open("/a", .readWrite)
    try disk.allocate(file, 0..<2048)
    #expect(try disk.bytes(of: "/a") == [5] + [UInt8](repeating: 0, count: 2047))
    disk.edit { $0.byteCountMax = 0 }
    try disk.put(file, [UInt8](repeating: 6, count: 2048), at: 0)
    #expect(disk.image.usedByteCount == 2048)
  }

  @Test func `an unlinked file keeps its space while it is open`() throws {
    try disk.make("/a", [1])
    let file = try disk.open("/a", .read)
    try disk.unlink("/a")
    try disk.syncDirectory("/")
    #expect(disk.image.usedByteCount == 512)
    #expect(try disk.status(file).linkCount == 0)
    try disk.close(file)
    #expect(disk.image.usedByteCount == 0)
  }

  // MARK: Names, locks, misuse

  @Test func `one descriptor at a time holds a directory's lock, and only its close gives it back`() throws {
    try disk.makeDirectory("/d")
    let lock = try disk.lockDirectory("/d")
    #expect(throws: Errno(EWOULDBLOCK)) { try disk.lockDirectory("/d") }
    #expect(throws: Never.self) { try disk.kill().lockDirectory("/d") }
    try disk.close(lock)
    #expect(throws: Never.self) { try disk.lockDirectory("/d") }
  }

  @Test func `misuse answers what Linux answers`() throws {
    try disk.make("/a")
    try disk.makeDirectory("/d")
    try disk.make("/d/b")
    disk.edit { image in
      image.put("/pipe", .fifo)
      image.put("/link", .symbolicLink(to: "/a"))
    }
    #expect(throws: Errno(ENOENT)) { try disk.open("/none", .read) }
    #expect(throws: Errno(EEXIST)) { try disk.open("/a", .create) }
    #expect(throws: Errno(EISDIR)) { try disk.open("/d", .readWrite) }
    #expect(throws: Errno(ELOOP)) { try disk.open("/link", .read) }
    #expect(throws: Errno(ENOTDIR)) { try disk.open("/a/b", .read) }
    #expect(throws: Errno(ENOTDIR)) { try disk.list("/a") }
    #expect(throws: Errno(ENOTEMPTY)) { try disk.removeDirectory("/d") }
    #expect(throws: Errno(EISDIR)) { try disk.unlink("/d") }
    #expect(throws: Errno(EEXIST)) { try disk.makeDirectory("/d") }
    #expect(throws: Errno(EEXIST)) { try disk.link("/d/b", to: "/a") }
    #expect(throws: Errno(EEXIST)) { try disk.rename("/d", to: "/a", replacing: false) }
    #expect(throws: Errno(ENOTDIR)) { try disk.rename("/d", to: "/a", replacing: true) }
    #expect(throws: Errno(EOPNOTSUPP)) {
      let file = try disk.open("/a", .readWrite)
      try disk.clone(file, to: file)
    }
    let file = try disk.open("/a", .read)
    #expect(throws: Errno(EBADF)) { try disk.put(file, [1], at: 0) }
    try disk.close(file)
    #expect(throws: Errno(EBADF)) { try disk.close(file) }
    let pipe = try disk.open("/pipe", .read)
    #expect(throws: Errno(ESPIPE)) { try disk.bytes(of: "/pipe") }
    #expect(try disk.status(pipe).kind == .other)
    #expect(try disk.status(at: "/link").kind == .other)
  }

  @Test func `a clone shares the bytes and not the changes after it`() throws {
    let disk = SimulatedDisk(canClone: true)
    try disk.make("/a", [1, 2, 3])
    let source = try disk.open("/a", .read)
    let target = try disk.open("/b", .create)
    try disk.clone(source, to: target)
    try disk.overwrite("/a", [9])
    #expect(try disk.bytes(of: "/b") == [1, 2, 3])
    try disk.sync(target)
    try disk.syncDirectory("/")
    #expect(try disk.powerLoss(keeping: .dropAll).bytes(of: "/b") == [1, 2, 3])
  }

  // MARK: Images

  @Test func `an image is a copy`() throws {
    try disk.make("/a", [1])
    let image = disk.image
    try disk.overwrite("/a", [2])
    #expect(image.bytes(of: "/a") == [1])
    #expect(try SimulatedDisk(image).bytes(of: "/a") == [1])
  }

  @Test func `the hash tells contents, sizes and names apart and nothing else`() throws {
    try disk.make("/a", [1, 0])
    let hash = disk.image.hash()
    let other = SimulatedDisk()
    try other.make("/x")
    try other.make("/a", [1])
    #expect(other.image.hash() != hash)
    try other.unlink("/x")
    #expect(other.image.hash() != hash)
    let file = try other.open("/a", .readWrite)
    try other.truncate(file, to: 2)
    #expect(other.image.hash() == hash)
    try other.make("/y")
    #expect(other.image.hash() != hash)
    #expect(other.image.hash(excluding: ["y"]) == hash)
    try other.allocate(file, 0..<4096)
    try other.truncate(file, to: 2)
    #expect(other.image.hash(excluding: ["y"]) == hash)
  }

  @Test func `damage is durable at once`() throws {
    try disk.make("/a", [1, 2, 3])
    var image = disk.image
    image.flip("/a", byte: 1, bit: 0)
    image.put("/b", [4])
    image.remove("/none")
    let damaged = SimulatedDisk(image)
    #expect(try damaged.bytes(of: "/a") == [1, 3, 3])
    #expect(try damaged.powerLoss(keeping: .keepAll).bytes(of: "/b") == [4])
    #expect(try disk.bytes(of: "/a") == [1, 2, 3])
    image.copy("/a", of: disk.image, to: "/c")
    #expect(image.bytes(of: "/c") == [1, 2, 3])
    #expect(image.files(below: "/") == ["/a", "/b", "/c"])
  }

  @Test(arguments: [512, 4096])
  func `random writes, cuts and reads agree with an array of bytes`(atomByteCount: Int) throws {
    let disk = SimulatedDisk(DiskImage(atomByteCount: atomByteCount))
    var generator = SeededGenerator(seed: 11)
    var model: [UInt8] = []
    let file = try disk.open("/a", .create)
    for _ in 0..<2_000 {
      let offset = Int.random(in: 0..<20_000, using: &generator)
      switch Int.random(in: 0..<4, using: &generator) {
      case 0:
        try disk.truncate(file, to: Int64(offset))
        model = Array(model.prefix(offset)) + [UInt8](repeating: 0, count: max(0, offset - model.count))
      case 1 where offset > 0:
        try disk.allocate(file, 0..<Int64(offset))
        model += [UInt8](repeating: 0, count: max(0, offset - model.count))
      default:
        let bytes = generator.bytes(Int.random(in: 1..<3_000, using: &generator))
        try disk.put(file, bytes, at: Int64(offset))
        model += [UInt8](repeating: 0, count: max(0, offset + bytes.count - model.count))
        model.replaceSubrange(offset..<offset + bytes.count, with: bytes)
      }
      if Int.random(in: 0..<20, using: &generator) == 0 { try disk.syncData(file) }
      try #require(disk.image.bytes(of: "/a") == model)
    }
    try disk.syncDirectory("/")
    #expect(try disk.powerLoss(keeping: .keepAll).bytes(of: "/a") == model)
    try disk.sync(file)
    #expect(try disk.powerLoss(keeping: .dropAll).bytes(of: "/a") == model)
  }
}
