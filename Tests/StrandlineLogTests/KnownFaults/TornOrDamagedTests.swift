import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// Faults of other engines at the border between a torn tail and damage: what they did is in Docs/Testing.md, "Known faults".
struct TornOrDamagedTests {
  private let store = DamagedLog()

  @Test func `one bit in any confirmed frame but the last refuses, changes nothing and names the place`() throws {
    store.options.segmentByteCountMax = 1 << 20
    try store.append(0..<12)
    let frames = store.tail
    #expect(frames.count == 12)
    for frame in frames.dropLast() {
      for byte in [frame.offset, frame.offset + 20, frame.offset + 70, frame.end - 9] {
        let whole = store.disk
        store.disk = whole.kill()
        store.disk.edit { $0.flip(frame.path, byte: byte, bit: 3) }
        let before = store.disk.image.bytes(of: frame.path)
        let report = try #require(store.refusal(), "byte \(byte)")
        #expect(report.file == frame.path)
        #expect(report.offset == Int64(frame.offset))
        #expect(report.isSingleBit == true)
        #expect("\(report)".contains("one flipped bit explains it"))
        #expect(store.disk.image.bytes(of: frame.path) == before)
        store.disk = whole
      }
    }
  }

  @Test(arguments: [0, 20, 70])
  func `bytes that were never written are told from one flipped bit`(byte: Int) throws {
    store.options.segmentByteCountMax = 1 << 20
    try store.append(0..<12)
    let frame = store.tail[3]
    for bit in [1, 6] { store.disk.edit { $0.flip(frame.path, byte: frame.offset + byte, bit: bit) } }
    let report = try #require(store.refusal())
    #expect(report.offset == Int64(frame.offset))
    #expect(report.isSingleBit == false)
    #expect(!"\(report)".contains("flipped bit"))
  }

  @Test(arguments: ["META", "header"])
  func `one bit in each of two copies is told as a flipped bit as well`(what: String) throws {
    try store.append(0..<12)
    let path = what == "META" ? "\(DamagedLog.path)/META" : store.segments[0]
    let places =
      what == "META" ? [90, 4096 + 90] : [SegmentHeader.copyOffsets[0] + 60, SegmentHeader.copyOffsets[1] + 8]
    for place in places { store.disk.edit { $0.flip(path, byte: place, bit: 2) } }
    let report = try #require(store.refusal())
    #expect(report.file == path)
    #expect(report.isSingleBit == true)
    for place in places { store.disk.edit { $0.flip(path, byte: place + 1, bit: 5) } }
    #expect(store.refusal()?.isSingleBit == false)
  }

  @Test func `a reader that meets a bit flipped since the log was opened says so`() throws {
    store.options.segmentByteCountMax = 1 << 20
    let opened = try store.open()
    for value in 0..<5 { try opened.log.append([DamagedLog.record(value)]) }
    let frame = store.tail[2]
    store.disk.edit { $0.flip(frame.path, byte: frame.offset + 80, bit: 4) }
    let reader = try opened.log.read()
    #expect(try reader.next()?.records == [DamagedLog.record(0)])
    #expect(try reader.next()?.records == [DamagedLog.record(1)])
    do throws(LogError) {
      _ = try reader.next()
      Issue.record("read")
    } catch {
      guard case .corrupt(let report) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(report.offset == Int64(frame.offset))
      #expect(report.isSingleBit == true)
    }
  }

  @Test func `a frame behind an unsynced hole is dropped with it and nobody is told of damage`() throws {
    let opened = try store.open()
    try opened.log.append([DamagedLog.record(1)])
    for value in 2..<5 { try opened.log.append([DamagedLog.record(value)], durability: .buffered) }
    let hole = store.tail[1]
    store.disk.edit { $0.poke(hole.path, at: hole.offset, [UInt8](repeating: 0, count: hole.end - hole.offset)) }
    store.disk = store.disk.kill()
    let again = try store.open()
    #expect(again.records == [DamagedLog.record(1)])
    #expect(again.log.openReport.cut != nil)
    #expect(again.log.openReport.cut?.lastSequence == SequenceNumber(4))
  }

  @Test(arguments: [512, 4096, 8 << 10, 64 << 10])
  func `zeros inside what was synced refuse`(byteCount: Int) throws {
    store.options.segmentByteCountMax = 1 << 20
    try store.append(0..<400)
    let path = try #require(store.segments.first)
    let frame = store.tail[20]
    store.disk.edit { $0.poke(path, at: frame.offset + 8, [UInt8](repeating: 0, count: byteCount)) }
    #expect(store.refusal() != nil)
  }

  @Test func `frames of an earlier life of the tail never come back`() throws {
    store.options.segmentByteCountMax = 1 << 20
    try store.append(0..<3)
    let old = store.disk.kill()
    let opened = try store.open()
    for value in 3..<9 { try opened.log.append([DamagedLog.record(value)], durability: .buffered) }
    let path = try #require(store.segments.last)
    let stale = try #require(store.disk.image.bytes(of: path))
    let end = store.tail[2].end
    store.disk = old
    try store.append(100..<101)
    let tail = store.tail[3].end
    store.disk.edit { image in image.edit(path) { $0 = Array($0[..<tail]) + stale[tail...] } }
    #expect(tail != end)
    let again = try store.open()
    #expect(again.records == DamagedLog.records(0..<3) + [DamagedLog.record(100)])
    #expect(again.log.openReport.cut != nil)
  }

  @Test func `megabytes of zeros behind the tail are space and not a finding`() throws {
    try store.append(0..<30)
    for path in store.segments {
      store.disk.edit { image in image.edit(path) { $0 += [UInt8](repeating: 0, count: 4 << 20) } }
    }
    let again = try store.open()
    #expect(again.records == DamagedLog.records(0..<30))
    #expect(again.log.openReport.cut == nil)
  }

  @Test(arguments: [1, 100, 4097, 1 << 20])
  func `half a frame behind the tail is cut and the log goes on in place`(byteCount: Int) throws {
    try store.append(0..<5)
    let tail = store.tail
    let end = tail[tail.count - 1].end
    let garbage = SeededBits(seed: 9)
    store.disk.edit { image in
      image.edit(tail[0].path) { bytes in
        bytes = Array(bytes[..<end]) + (0..<byteCount).map { _ in UInt8(truncatingIfNeeded: garbage.next() | 1) }
      }
    }
    let again = try store.open()
    #expect(again.records == DamagedLog.records(0..<5))
    #expect(again.log.openReport.cut?.byteCount == Int64(byteCount))
    for value in 5..<15 { try again.log.append([DamagedLog.record(value)]) }
    try again.log.close()
    let third = try store.open()
    #expect(third.records == DamagedLog.records(0..<15))
    #expect(third.log.openReport.cut == nil)
  }

  @Test func `opening a torn tail again and again gives the same state`() throws {
    try store.append(0..<5)
    let tail = store.tail
    store.disk.edit { $0.poke(tail[0].path, at: tail[tail.count - 1].end, [0xF5, 0x0D, 0x0A, 0x1A, 1]) }
    var hashes: Set<[[UInt8]]> = []
    for round in 0..<3 {
      store.disk = store.disk.kill()
      let opened = try store.open()
      hashes.insert(opened.records)
      #expect((opened.log.openReport.cut != nil) == (round == 0))
    }
    #expect(hashes == [DamagedLog.records(0..<5)])
  }

  @Test(arguments: [0, 1, 4095, 4096, 4200])
  func `a closed segment cut short refuses, whichever it is`(byteCount: Int) throws {
    try store.append(0..<60)
    for path in store.segments.dropLast() {
      let whole = store.disk
      store.disk = whole.kill()
      store.disk.edit { image in image.edit(path) { $0 = Array($0.prefix(byteCount)) } }
      let report = try #require(store.refusal())
      #expect(report.file == path)
      store.disk = whole
    }
  }

  @Test func `an empty segment file is removed if nobody knows it and refused where it is known`() throws {
    try store.append(0..<60)
    let segments = store.segments
    let next = SegmentFileName(ordinal: UInt64(segments.count + 1), id: 77)
    store.disk.edit { $0.put("\(DamagedLog.path)/\(next)", []) }
    let opened = try store.open()
    #expect(opened.records == DamagedLog.records(0..<60))
    #expect(opened.log.openReport.removed.contains(next.description))
    for path in [segments[2], segments[segments.count - 1]] {
      let whole = store.disk
      store.disk = whole.kill()
      store.disk.edit { $0.put(path, []) }
      #expect(store.refusal()?.file == path)
      store.disk = whole
    }
  }

  @Test func `a segment put back under a newer one's name is not read`() throws {
    try store.append(0..<60)
    let segments = store.segments
    let old = try #require(store.disk.image.bytes(of: segments[1]))
    let whole = store.disk
    for path in [segments[3], segments[segments.count - 1]] {
      store.disk = whole.kill()
      store.disk.edit { $0.put(path, old) }
      #expect(store.refusal() != nil)
    }
    store.disk = whole.kill()
    store.disk.edit { image in
      image.edit(segments[segments.count - 1]) { bytes in
        let end = bytes.count
        bytes = Array(bytes[..<4096]) + old[4096...] + [UInt8](repeating: 0, count: max(0, end - old.count))
      }
    }
    // Every promise of the segment went with its frames: what is left is a tail that nobody vouches for, and it is said.
    let opened = try store.open()
    #expect(opened.records == Array(DamagedLog.records(0..<60).prefix(opened.records.count)))
    #expect(opened.log.openReport.cut != nil)
  }

  @Test func `salts of many segments all differ`() throws {
    store.options.environment = .system
    var salts: Set<UInt64> = []
    try store.append(0..<400)
    for path in store.segments {
      let bytes = try #require(store.disk.image.bytes(of: path))
      salts.insert(try bytes.withUnsafeBytes { try SegmentHeader(decodingBlock: $0).salt })
    }
    #expect(salts.count == store.segments.count)
    #expect(!salts.contains(0))
  }

  @Test func `eight bytes changed anywhere in a closed log never give a shorter or empty one`() throws {
    try store.append(0..<5, closing: true)
    let path = try #require(store.segments.last)
    let end = store.tail[store.tail.count - 1].end
    let whole = store.disk
    for offset in stride(from: 4096, to: end - 8, by: 4) {
      store.disk = whole.kill()
      store.disk.edit { image in
        let bytes = image.bytes(of: path) ?? []
        image.poke(path, at: offset, bytes[offset..<offset + 8].map { ~$0 })
      }
      #expect(store.refusal() != nil, "offset \(offset)")
    }
  }

  @Test func `the last commit of a closed log is as well guarded as any`() throws {
    try store.append(0..<5, closing: true)
    let last = try #require(store.tail.last { $0.header.kind == .data })
    for bit in 0..<8 {
      let whole = store.disk
      store.disk = whole.kill()
      store.disk.edit { $0.flip(last.path, byte: last.offset + 70, bit: bit) }
      #expect(store.refusal()?.offset == Int64(last.offset))
      store.disk = whole
    }
  }

  @Test(arguments: 0..<8)
  func `a payload made of the bytes of a segment steers nothing`(shift: Int) throws {
    store.options.segmentByteCountMax = 1 << 20
    try store.append(0..<10)
    let path = try #require(store.segments.first)
    let segment = try #require(store.disk.image.bytes(of: path))
    let opened = try store.open()
    let payload = [UInt8](repeating: 7, count: shift) + segment[..<store.tail[9].end]
    try opened.log.append([payload])
    let frames = store.tail
    let last = frames[frames.count - 1]
    // Torn in the middle of the payload: what follows the damage looks like frames, of this very log.
    store.disk.edit { $0.poke(path, at: last.offset + 100, [UInt8](repeating: 0xEE, count: 16)) }
    store.disk = store.disk.kill()
    let again = try store.open()
    #expect(again.records == DamagedLog.records(0..<10))
    #expect(again.log.openReport.cut != nil)
  }

  @Test func `a header with all tags zero is no frame`() throws {
    try store.append(0..<5)
    let tail = store.tail
    var frame = [UInt8](repeating: 0, count: 128)
    frame.replaceSubrange(0..<5, with: [0xF5, 0x0D, 0x0A, 0x1A, 1])
    store.disk.edit { $0.poke(tail[0].path, at: tail[tail.count - 1].end, frame) }
    let again = try store.open()
    #expect(again.records == DamagedLog.records(0..<5))
    #expect(again.log.openReport.cut != nil)
  }

  @Test func `there is no value that means no checksum, whatever the tag belongs to`() throws {
    try store.append(0..<30)
    let root = "\(DamagedLog.path)/META"
    let whole = store.disk
    let segment = store.segments[1]
    let targets: [(file: String, tags: [Int])] = [
      (root, [4088, 8184]), (segment, SegmentHeader.copyOffsets.map { $0 + 152 }), (segment, [4096 + 56]),
      (segment, [4096 + 48]),
    ]
    for target in targets {
      for value in [UInt8(0), 0xFF] {
        store.disk = whole.kill()
        for tag in target.tags {
          store.disk.edit { $0.poke(target.file, at: tag, [UInt8](repeating: value, count: 8)) }
        }
        #expect(store.refusal()?.file == target.file, "\(target), \(value)")
      }
    }
  }

  @Test func `a RESET with zeros for tags resets nothing`() throws {
    try store.append(0..<5)
    let (path, end) = try #require(store.tail.last.map { ($0.path, $0.end) })
    var frame = [UInt8](repeating: 0, count: 128)
    frame.replaceSubrange(0..<5, with: [0xF5, 0x0D, 0x0A, 0x1A, 3])
    store.disk.edit { $0.poke(path, at: end, frame) }
    let again = try store.open()
    #expect(again.records == DamagedLog.records(0..<5))
    #expect(again.log.openReport.epoch == 0)
    #expect(again.log.openReport.cut != nil)
  }

  @Test(arguments: UInt64(0)..<40)
  func `random bytes that begin like a frame are a torn tail, and damage in a closed segment`(seed: UInt64) throws {
    try store.append(0..<20)
    var generator = SeededGenerator(seed: seed)
    // The magic, a kind that there is, no flags, then lengths of up to 4 GiB.
    let noise = [0xF5, 0x0D, 0x0A, 0x1A, UInt8(1 + seed % 4), UInt8(seed % 2), 0, 0] + generator.bytes(504)
    let whole = store.disk
    let end = try #require(store.tail.last).end
    let segments = store.segments
    store.disk.edit { $0.poke(segments[segments.count - 1], at: end, noise) }
    let again = try store.open()
    #expect(again.records == DamagedLog.records(0..<20))
    #expect(again.log.openReport.cut != nil)
    store.disk = whole.kill()
    store.disk.edit { $0.poke(segments[1], at: 4096, noise) }
    #expect(store.refusal()?.file == segments[1])
  }

  @Test func `one bad segment of many costs its own commits and no file`() throws {
    try store.append(0..<60, closing: true)
    let whole = store.disk
    let segments = store.segments
    for path in segments.dropLast() {
      store.disk = whole.kill()
      var generator = SeededGenerator(seed: 4)
      let byteCount = try #require(store.disk.image.bytes(of: path)).count
      let lost = store.frames(of: path).filter { $0.header.kind == .data }.count
      store.disk.edit { $0.put(path, generator.bytes(byteCount)) }
      let before = store.disk.image.hash()
      #expect(store.refusal()?.file == path)
      let report = try Salvage.run(
        from: DamagedLog.path, to: "/new", environment: SampleStore.environment(store.disk, seed: 5))
      #expect(report.commitCount == 60 - lost)
      #expect(report.lostSequenceCount == UInt64(lost))
      store.disk.edit { $0.remove("/new") }
      #expect(store.disk.image.hash() == before)
    }
  }

  @Test func `a log that is killed and opened again five times keeps every commit`() throws {
    for round in 0..<5 {
      try store.append(round * 10..<round * 10 + 10)
      store.disk = round % 2 == 0 ? store.disk.kill() : SimulatedDisk(store.disk.image.powerLoss(keeping: .dropAll))
    }
    #expect(try store.open().records == DamagedLog.records(0..<50))
  }

  @Test func `a closed segment that is cut while the log is open is an error to its reader and a trap to nobody`()
    throws
  {
    let opened = try store.open()
    for value in 0..<40 { try opened.log.append([DamagedLog.record(value)]) }
    let path = store.segments[1]
    let reader = try opened.log.read()
    store.disk.edit { image in image.edit(path) { $0 = Array($0.prefix(4096 + 100)) } }
    var records: [[UInt8]] = []
    do throws(LogError) {
      while let commit = try reader.next() { records += commit.records }
      Issue.record("read to the end")
    } catch {
      guard case .corrupt(let report) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(report.file == path)
    }
    #expect(!records.isEmpty && records == Array(DamagedLog.records(0..<40).prefix(records.count)))
    try opened.log.append([[1]])
  }

  @Test func `META of zeros refuses and one bad slot does not`() throws {
    try store.append(0..<5)
    let root = "\(DamagedLog.path)/META"
    let whole = store.disk
    for slot in 0..<2 {
      store.disk = whole.kill()
      store.disk.edit { $0.poke(root, at: slot * 4096 + 70, [1, 2, 3]) }
      let opened = try store.open()
      #expect(opened.records == DamagedLog.records(0..<5))
      #expect(opened.log.openReport.warnings.contains(.rootSlotDamaged(slot: slot)))
    }
    for change in [0, 1, 4096, 8191, 8193] {
      store.disk = whole.kill()
      store.disk.edit { image in
        image.edit(root) { bytes in bytes = Array((bytes + [0]).prefix(change == 0 ? 8192 : change)) }
        if change == 0 { image.poke(root, at: 0, [UInt8](repeating: 0, count: 8192)) }
      }
      #expect(store.refusal() != nil, "META of \(change) bytes")
    }
    store.disk = whole.kill()
    store.disk.edit { $0.remove(root) }
    #expect(store.refusal()?.reason == .rootMissing)
  }

  @Test func `an older META is caught up with by the chain`() throws {
    try store.append(0..<30)
    let root = "\(DamagedLog.path)/META"
    let older = try #require(store.disk.image.bytes(of: root))
    try store.append(30..<90)
    store.disk.edit { $0.put(root, older) }
    #expect(try store.open().records == DamagedLog.records(0..<90))
    #expect(try store.open().log.openReport.removed.isEmpty)
  }

  @Test func `files of another store are refused`() throws {
    try store.append(0..<40)
    let other = DamagedLog(seed: 2)
    try other.append(0..<40)
    for name in other.disk.image.names(in: DamagedLog.path) where name != "LOCK" {
      let whole = store.disk
      store.disk = whole.kill()
      let target = name == "META" ? "META" : String(store.segments[0].split(separator: "/")[1])
      store.disk.edit {
        $0.remove("\(DamagedLog.path)/\(target)")
        $0.copy("\(DamagedLog.path)/\(name)", of: other.disk.image, to: "\(DamagedLog.path)/\(target)")
      }
      #expect(store.refusal() != nil, "\(name) as \(target)")
      store.disk = whole
    }
  }
}
