import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// Lengths, counts and numbers from disk at their edges, under tags that are right.
struct HostileNumbersTests {
  private let store = DamagedLog()

  @Test(arguments: [UInt32(0), 1, 7, 0x7FFF_FFFF, 0x8000_0000, .max, 17 << 20, (17 << 20) + 1])
  func `a forged length is a finding, never a trap or an allocation`(length: UInt32) throws {
    try store.append(0..<5)
    try store.forge { header in
      header.storedByteCount = Int(length)
      header.rawByteCount = Int(length)
    }
    try expectPrefixOrRefusal()
  }

  /// The five commits in front of what was forged, or a typed refusal: which of the two depends on what the tags prove.
  private func expectPrefixOrRefusal() throws {
    do throws(LogError) {
      let opened = try store.open()
      #expect(opened.records == DamagedLog.records(0..<5))
      #expect(opened.log.openReport.cut != nil)
    } catch {
      guard case .corrupt(let report) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(report.reason == .frameDamaged)
    }
  }

  @Test(arguments: [
    (stored: 1024, raw: 64 << 20), (stored: 16, raw: 16 * 255 + 1), (stored: 1024, raw: 1024 * 255),
    (stored: 0, raw: 1),
  ])
  func `a decompression bomb is refused before memory is taken for it`(claim: (stored: Int, raw: Int)) throws {
    try store.append(0..<5)
    try store.forge(
      { header in
        header.codec = .lz4
        header.rawByteCount = claim.raw
        header.recordCount = 1
      }, payload: [UInt8](repeating: 0xFF, count: claim.stored))
    try expectPrefixOrRefusal()
  }

  @Test func `a record count that the payload does not hold is damage`() throws {
    for count in [0, 2, 3, 5] {
      let store = DamagedLog()
      try store.append(0..<5)
      try store.forge({ $0.recordCount = count }, payload: [2, 3, 1, 2, 3])
      #expect(throws: LogError.self, "count \(count)") { try store.open() }
    }
    try store.append(0..<5)
    // More records than bytes: the header itself cannot be true.
    try store.forge({ $0.recordCount = 100 }, payload: [2, 3, 1, 2, 3])
    try expectPrefixOrRefusal()
  }

  @Test func `a frame kind from the future is passed over if it may be and refused if not`() throws {
    try store.append(0..<5)
    try store.forge {
      $0.kind = FrameKind(rawValue: 0xC8)
      $0.sequence = SequenceNumber(5)
    }
    #expect(try store.open().records == DamagedLog.records(0..<5))
    let other = DamagedLog()
    try other.append(0..<5)
    try other.forge { $0.kind = FrameKind(rawValue: 0x48) }
    let before = other.disk.image.files(below: "/").map { other.disk.image.bytes(of: $0) }
    do throws(LogError) {
      _ = try other.open()
      Issue.record("opened")
    } catch {
      guard case .unsupportedFormat(_, .frameKind(0x48, _)) = error else {
        Issue.record("\(error)")
        return
      }
    }
    #expect(other.disk.image.files(below: "/").map { other.disk.image.bytes(of: $0) } == before)
  }

  @Test func `an unknown feature bit refuses the store and names the bit`() throws {
    try store.append(0..<5, closing: true)
    let path = "\(DamagedLog.path)/META"
    let root = try #require(store.disk.image.bytes(of: path))
    for (bit, isReadable) in [(63, false), (0, false), (5, true)] {
      var slots: [UInt8] = []
      for number in 0..<2 {
        var slot = try root.withUnsafeBytes { buffer in
          try RootSlot(
            decoding: UnsafeRawBufferPointer(rebasing: buffer[number * 4096..<number * 4096 + 4096]), slotNumber: number
          )
        }
        if isReadable { slot.readOnlyCompatibleBits = 1 << bit } else { slot.incompatibleBits = 1 << bit }
        slots += slot.encoded()
      }
      store.disk.edit { $0.put(path, slots) }
      let detail: LogError.FormatDetail = isReadable ? .readOnlyFeatureBit(bit) : .featureBit(bit)
      #expect(throws: LogError.unsupportedFormat(file: path, detail: detail)) { try store.open() }
      #expect(store.disk.image.bytes(of: path) == slots)
      if isReadable { #expect(try store.open(access: .readOnly).records == DamagedLog.records(0..<5)) }
    }
  }

  /// Moves the whole log to other numbers, as if it had a long life behind it.
  private func age(baseLSN: UInt64, baseSequence: UInt64) throws {
    let opened = try store.open()
    try opened.log.close()
    let path = try #require(store.segments.last)
    var bytes = try #require(store.disk.image.bytes(of: path))
    var header = try bytes.withUnsafeBytes { try SegmentHeader(decodingBlock: $0) }
    header.baseLSN = LSN(baseLSN)
    header.baseSequence = SequenceNumber(baseSequence)
    bytes.replaceSubrange(0..<4096, with: header.encodedBlock())
    let root = "\(DamagedLog.path)/META"
    let meta = try #require(store.disk.image.bytes(of: root))
    var slots: [UInt8] = []
    for number in 0..<2 {
      var slot = try meta.withUnsafeBytes { buffer in
        try RootSlot(
          decoding: UnsafeRawBufferPointer(rebasing: buffer[number * 4096..<number * 4096 + 4096]), slotNumber: number)
      }
      slot.closedCleanly = false
      slot.durableMark = LSN(baseLSN + 4096)
      slots += slot.encoded()
    }
    store.disk.edit {
      $0.put(path, bytes)
      $0.put(root, slots)
    }
  }

  @Test func `headers and roots that point to themselves or to each other are refused and end`() throws {
    try store.append(0..<60)
    let segments = store.segments
    let headers = try segments.map { path in
      try #require(store.disk.image.bytes(of: path)).withUnsafeBytes { try SegmentHeader(decodingBlock: $0) }
    }
    let whole = store.disk
    for (index, target) in [(1, 1), (1, 2), (2, 3), (headers.count - 1, headers.count - 1), (headers.count - 1, 0)] {
      store.disk = whole.kill()
      var header = headers[index]
      header.predecessor.id = headers[target].id
      store.disk.edit { $0.poke(segments[index], at: 0, header.encodedBlock()) }
      #expect(store.refusal() != nil, "segment \(index) follows \(target)")
    }
    for (ordinal, id) in [(0, 1), (1, 0), (headers.count - 1, 0)] {
      store.disk = whole.kill()
      try editRoot {
        $0.lastCreatedOrdinal = headers[ordinal].ordinal
        $0.lastCreatedID = headers[id].id
      }
      #expect(store.refusal() != nil, "META names segment \(ordinal) with the id of \(id)")
    }
    store.disk = whole.kill()
    try editRoot { $0.anchor = RootSlot.Anchor(ordinal: 1, lsn: LSN(1 << 40), headTag: 1, sequence: SequenceNumber(3)) }
    #expect(store.refusal()?.reason == .anchorMismatch)
  }

  private func editRoot(_ change: (inout RootSlot) -> Void) throws {
    let root = "\(DamagedLog.path)/META"
    let bytes = try #require(store.disk.image.bytes(of: root))
    var slots: [UInt8] = []
    for number in 0..<2 {
      var slot = try bytes.withUnsafeBytes { try RootSlot(decoding: $0.slice(number * 4096, 4096), slotNumber: number) }
      change(&slot)
      slots += slot.encoded()
    }
    store.disk.edit { $0.put(root, slots) }
  }

  @Test(arguments: [UInt64(1 << 32), UInt64(1 << 53), UInt64((1 << 61) - 4096)])
  func `positions far beyond four gigabytes work like any`(baseLSN: UInt64) throws {
    try age(baseLSN: baseLSN, baseSequence: 0)
    try store.append(0..<40)
    #expect(try store.open().records == DamagedLog.records(0..<40))
  }

  @Test func `numbers and positions that run out are an error at the append and wrap nowhere`() throws {
    try age(baseLSN: 0, baseSequence: SequenceNumber.max.rawValue - 2)
    let opened = try store.open()
    try opened.log.append([[1]])
    #expect(try opened.log.append([[2]]).sequence == .max)
    #expect(throws: LogError.self) { try opened.log.append([[3]]) }
    #expect(throws: LogError.self) { try opened.log.reset() }
    #expect(try store.open(on: store.disk.kill()).records == [[1], [2]])
    let far = DamagedLog()
    try far.append(0..<1)
    let other = HostileNumbersTests()
    try other.age(baseLSN: (1 << 62) - 4096 * 4, baseSequence: 5)
    do throws(LogError) {
      try other.store.open().log.append([[1]])
      Issue.record("appended")
    } catch {
      guard case .limitExceeded(let limit) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(limit.name == .logByteCount)
    }
  }

  @Test func `limits of records, commits and carried records are typed and write nothing`() throws {
    store.options.commitByteCountMax = 64 << 10
    let opened = try store.open()
    let before = opened.log.status
    var draft = opened.log.draft()
    #expect(throws: LogError.self) { try draft.append([UInt8](repeating: 0, count: (16 << 20) + 1)) }
    #expect(throws: LogError.self) { try draft.append(SeededGeneratorBytes.random(70 << 10)) }
    #expect(throws: LogError.self) { try opened.log.reset(carrying: [[UInt8](repeating: 1, count: 33 << 10)]) }
    #expect(opened.log.status == before)
    try opened.log.append([SeededGeneratorBytes.random(50 << 10), []])
    #expect(try store.open(on: store.disk.kill()).records.count == 2)
  }
}

private enum SeededGeneratorBytes {
  static func random(_ count: Int) -> [UInt8] {
    var generator = SeededGenerator(seed: 3)
    return generator.bytes(count)
  }
}
