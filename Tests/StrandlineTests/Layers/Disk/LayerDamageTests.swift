import StrandlineTestSupport
import Testing

@testable import Strandline
@testable @_spi(Engine) import StrandlineLog

/// Damage in a layer file: a typed error at the read that meets it, everything else readable, nothing wrong ever.
struct LayerDamageTests {
  /// A small layer on a disk of its own, and which versions each block has.
  private struct Subject: Sendable {
    var model: LayerModel
    var image: DiskImage
    var entry: LayerEntry
    var bytes: [UInt8]
    var footer: LayerFooter
    /// By block: its bytes in the file, and the places of its versions in the model.
    var blocks: [(bytes: Range<Int>, versions: Range<Int>)] = []
    var path: String { "/store/\(entry.fileName)" }

    init(dictionary: LayerOptions.Dictionary, seed: UInt64) throws {
      var random = SeededGenerator(seed: seed)
      var versions = LayerShape.uuids(70, versions: 2, valueByteCount: 60).make(&random)
      for number in 0..<40 {
        let key = StoreKey(KeyPrefix(.stream), Array("stream-\(number % 4)-\(number / 9)".utf8))
        versions.append(OwnedVersion(key, UInt64(number) + 1, LayerShape.text(400, &random)))
      }
      versions.append(OwnedVersion(StoreKey(KeyPrefix(.stream), [1]), 1, LayerShape.text(18_000, &random)))
      model = LayerModel(versions)
      let disk = SimulatedDisk()
      let bench = LayerBench(disk)
      entry = try bench.write(model, dictionary: dictionary, times: [TimeSample(sequence: 1, milliseconds: 2)])
      image = disk.image
      bytes = image.bytes(of: "/store/\(entry.fileName)")!
      let layer = try bench.open(entry)
      footer = layer.footer
      var place = 0
      let scratch = layer.takeScratch()
      for block in 0..<layer.index.blockCount {
        let count = try layer.readBlock(block, scratch).count
        blocks.append((layer.index.offset(of: block)..<layer.index.offset(of: block + 1), place..<place + count))
        place += count
      }
    }

    /// Versions that bytes of the file carry: damage there may cost these and no others.
    func versions(at place: Int) -> Range<Int> {
      blocks.first { $0.bytes.contains(place) }?.versions ?? 0..<0
    }
  }

  /// What damage costs.
  private enum Cost: Hashable { case nothing, layer, filter, block }

  /// Reads all of a damaged layer. Returns what it cost, or complains.
  private static func check(
    _ subject: Subject, _ image: DiskImage, _ damaged: Range<Int>, isVerified: Bool, entry: LayerEntry? = nil,
    _ what: String
  ) throws -> Cost {
    let disk = SimulatedDisk(image)
    let bench = LayerBench(disk)
    let layer: DiskLayer
    do {
      layer = try bench.open(entry ?? subject.entry)
    } catch {
      expectTyped(error, what)
      #expect(disk.openDescriptorCount == 0, "\(what): the file was left open")
      return .layer
    }
    let lost = damaged.lowerBound..<max(damaged.upperBound, damaged.lowerBound)
    let mayCost = lost.isEmpty ? 0..<0 : subject.versions(at: lost.lowerBound)
    var buffer = ValueBuffer()
    var failed = 0
    for (place, version) in subject.model.versions.enumerated() {
      do {
        let found = try bench.find(layer, version.key, at: version.sequence, &buffer)
        let expected = subject.model.find(version.key, at: version.sequence)
        #expect(found.0 == expected.0 && found.1 == expected.1, "\(what): wrong data for version \(place)")
      } catch {
        expectTyped(error, what)
        failed += 1
        let isInFilter = subject.footer.filterOffset..<subject.footer.filterOffset + subject.footer.filterByteCount
        let isForgiven = mayCost.contains(place) || isInFilter.contains(damaged.lowerBound)
        #expect(isForgiven, "\(what): version \(place) is lost too")
      }
    }
    checkCursors(subject, layer, mayCost, what)
    if isVerified {
      let reports = try layer.verify()
      #expect(!reports.isEmpty, "\(what): verify does not see it")
      #expect(reports.allSatisfy { $0.reason == .layerDamaged && $0.file == subject.path })
    }
    return failed == 0 ? .nothing : mayCost.isEmpty ? .filter : .block
  }

  private static func checkCursors(_ subject: Subject, _ layer: DiskLayer, _ mayCost: Range<Int>, _ what: String) {
    let cursor = layer.makeCursor()
    // Forward up to the damage, and from behind it on.
    func scan(from start: Int) -> Int {
      var place = start
      do {
        try subject.model.versions[start].key.withView { (key) throws(StoreError) in try cursor.seek(to: key) }
        if let first = cursor.current { place = subject.model.index(from: StoreKey(copying: first.key)) }
        while let version = cursor.current {
          let isSame = OwnedVersion(copying: version) == subject.model.versions[place]
          #expect(isSame, "\(what): the cursor is wrong at \(place)")
          guard isSame else { return place }
          place += 1
          try cursor.advance()
        }
      } catch {
        expectTyped(error, what)
        #expect(cursor.current == nil)
        #expect(mayCost.contains(place), "\(what): the cursor stops at \(place)")
      }
      return place
    }
    let end = scan(from: 0)
    guard end < subject.model.versions.count else { return }
    // A key that the damaged block ends with is sought there.
    let last = subject.model.versions[mayCost.upperBound - 1].key
    let behind = subject.model.versions[mayCost.upperBound...].firstIndex { $0.key != last }
    if let behind { #expect(scan(from: behind) == subject.model.versions.count, "\(what): not all behind it is read") }
  }

  private static func expectTyped(_ error: any Error, _ what: String) {
    switch error as? StoreError {
    case .corrupt(let report):
      #expect(report.reason == .layerDamaged && !report.expected.isEmpty && !report.found.isEmpty, "\(what)")
    case .unsupportedFormat: break
    default: Issue.record("\(what): \(error)")
    }
  }

  private static let dictionaries: [LayerOptions.Dictionary] = [
    .none, .given(Array("the tide leaves a line on the beach, how far the sea had come".utf8)),
  ]

  @Test(arguments: [0, 1])
  func `any bit may turn`(_ dictionary: Int) throws {
    let subject = try Subject(dictionary: Self.dictionaries[dictionary], seed: 31)
    let seed: UInt64 = 32
    var random = SeededGenerator(seed: seed)
    let total = subject.bytes.count * 8
    let step = SoakScale.stride(of: total, running: 1500)
    var costs: [Cost: Int] = [:]
    var bit = 0
    while bit < total {
      let place = bit / 8
      var image = subject.image
      image.flip(subject.path, byte: place, bit: bit % 8)
      let cost = try Self.check(
        subject, image, place..<place + 1, isVerified: true, "seed \(seed), bit \(bit % 8) of byte \(place)")
      costs[cost, default: 0] += 1
      bit += step == 1 ? 1 : Int.random(in: 1...step * 2 - 1, using: &random)
    }
    #expect(costs.keys.count == 4, "\(costs)")
  }

  @Test(arguments: [0, 1])
  func `the file may have any other length`(_ dictionary: Int) throws {
    let subject = try Subject(dictionary: Self.dictionaries[dictionary], seed: 33)
    let step = SoakScale.stride(of: subject.bytes.count, running: 400)
    for length in stride(from: 0, to: subject.bytes.count, by: step) + [subject.bytes.count - 1] {
      var image = subject.image
      image.edit(subject.path) { $0.removeSubrange(length...) }
      var entry = subject.entry
      #expect(try Self.check(subject, image, 0..<0, isVerified: false, "\(length) bytes") == .layer)
      // Also where META agrees with the length.
      entry.byteCount = UInt64(length)
      #expect(try Self.check(subject, image, 0..<0, isVerified: false, entry: entry, "\(length) bytes") == .layer)
    }
    for more in [1, 8, 4096] {
      var image = subject.image
      image.edit(subject.path) { $0 += [UInt8](repeating: 0, count: more) }
      #expect(try Self.check(subject, image, 0..<0, isVerified: false, "\(more) bytes more") == .layer)
    }
    var image = subject.image
    image.remove(subject.path)
    #expect(try Self.check(subject, image, 0..<0, isVerified: false, "no file") == .layer)
    image.put(subject.path, .directory)
    #expect(try Self.check(subject, image, 0..<0, isVerified: false, "a directory") == .layer)
  }

  @Test func `blocks that stand in each other's places are seen`() throws {
    let subject = try Subject(dictionary: .none, seed: 34)
    var image = subject.image
    let blocks = subject.blocks.map(\.bytes)
    let one = try #require(blocks.first { $0.count > 100 })
    let other = try #require(blocks.last { $0.count >= one.count })
    image.poke(subject.path, at: other.lowerBound, Array(subject.bytes[one]))
    #expect(try Self.check(subject, image, other, isVerified: true, "a block of another place") == .block)
  }

  @Test func `a layer of another store, another layer and another seed are refused`() throws {
    let subject = try Subject(dictionary: .none, seed: 35)
    let bench = LayerBench(SimulatedDisk(subject.image))
    let cache = BlockCache(byteCountMax: 0)
    #expect(throws: StoreError.self) {
      _ = try DiskLayer(
        opening: subject.entry, in: bench.directory, identifier: StoreIdentifier(high: 1, low: 3), cache: cache,
        keySeed: bench.keySeed)
    }
    #expect(throws: StoreError.self) {
      _ = try DiskLayer(
        opening: subject.entry, in: bench.directory, identifier: bench.identifier, cache: cache, keySeed: 1)
    }
    for change in 0..<4 {
      var entry = subject.entry
      switch change {
      case 0: entry.salt ^= 1
      case 1: entry.footerTag ^= 1
      case 2: entry.level ^= 1
      default: entry.firstSequence = SequenceNumber(2)
      }
      #expect(throws: StoreError.self) { _ = try bench.open(entry) }
    }
  }

  @Test func `a newer version is refused by name`() throws {
    let subject = try Subject(dictionary: .none, seed: 36)
    for (offset, value, detail) in [
      (8, UInt8(2), LogError.FormatDetail.majorVersion(found: 2, supported: 1)), (16, 4, .featureBit(2)),
    ] {
      var bytes = subject.bytes
      for copy in LayerHeader.copyOffsets {
        bytes[copy + offset] = value
        let tag = bytes[copy..<copy + 80].withUnsafeBytes {
          LayerFormat.tag(UnsafeRawBufferPointer($0), salt: subject.entry.salt, at: copy)
        }
        withUnsafeBytes(of: tag.littleEndian) { bytes.replaceSubrange(copy + 80..<copy + 88, with: $0) }
      }
      var image = subject.image
      image.put(subject.path, bytes)
      #expect(throws: StoreError.unsupportedFormat(file: subject.path, detail: detail)) {
        _ = try LayerBench(SimulatedDisk(image)).open(subject.entry)
      }
    }
  }

  @Test func `damage under an open layer is met by the read and by nothing else`() throws {
    let subject = try Subject(dictionary: .none, seed: 37)
    let disk = SimulatedDisk(subject.image)
    let bench = LayerBench(disk)
    let layer = try bench.open(subject.entry, cache: BlockCache(byteCountMax: 0))
    let (bytes, versions) = try #require(subject.blocks.last)
    disk.edit { $0.flip(subject.path, byte: bytes.upperBound - 1, bit: 3) }
    var buffer = ValueBuffer()
    for (place, version) in subject.model.versions.enumerated() {
      if versions.contains(place) {
        do {
          _ = try bench.find(layer, version.key, at: version.sequence, &buffer)
          Issue.record("version \(place) was read from a damaged block")
        } catch {
          guard case .corrupt(let report) = error else {
            Issue.record("\(error)")
            continue
          }
          #expect(report.offset == Int64(bytes.lowerBound))
        }
      } else {
        #expect(try bench.find(layer, version.key, at: version.sequence, &buffer).1 == version.value)
      }
    }
    #expect(try layer.verify().map(\.offset) == [Int64(bytes.lowerBound)])
    disk.edit { $0.edit(subject.path) { $0.removeLast($0.count - bytes.lowerBound - 5) } }
    #expect(throws: StoreError.self) { _ = try layer.readBlock(subject.blocks.count - 1, layer.takeScratch()) }
  }

  @Test func `a device that does not answer is not damage`() throws {
    let subject = try Subject(dictionary: .none, seed: 38)
    let faulty = FaultyFileSystem(SimulatedDisk(subject.image))
    let bench = LayerBench(faulty)
    let layer = try bench.open(subject.entry)
    faulty.fail([.read], with: .errno(Errno(5)), .forever)
    var buffer = ValueBuffer()
    for body in [
      { _ = try bench.find(layer, subject.model.versions[0].key, &buffer) },
      { try layer.makeCursor().seekBack(before: nil) }, { _ = try layer.verify() },
      { _ = try bench.open(subject.entry) },
    ] as [() throws -> Void] {
      #expect {
        try body()
      } throws: { error in
        guard case StoreError.ioFailed(let failure) = error else { return false }
        return failure.operation == .read && failure.path == subject.path
      }
    }
    faulty.heal()
    #expect(try bench.find(layer, subject.model.versions[0].key, &buffer).0 != .absent)
  }

  /// Bytes with tags that fit them: what they say is wrong, and still nothing outside them is touched.
  @Test func `forged bytes are errors or other data, never a trap`() throws {
    let seed: UInt64 = 39
    var random = SeededGenerator(seed: seed)
    let subject = try Subject(dictionary: Self.dictionaries[1], seed: seed)
    var outcomes: [String: Int] = [:]
    for _ in 0..<SoakScale.factor * 3000 {
      var bytes = subject.bytes
      var entry = subject.entry
      func seal(_ range: Range<Int>, from start: Int, tagAt place: Int) {
        let tag = bytes[start..<range.upperBound].withUnsafeBytes {
          LayerFormat.tag($0, salt: entry.salt, at: range.lowerBound)
        }
        withUnsafeBytes(of: tag.littleEndian) { bytes.replaceSubrange(place..<place + 8, with: $0) }
      }
      func turn(_ range: Range<Int>) {
        for _ in 0..<random.next() % 3 + 1 {
          let place = Int.random(in: range, using: &random)
          bytes[place] = [0, 0xFF, 0x7F, 0x80, bytes[place] ^ 1 << UInt8(random.next() % 8)].randomElement(
            using: &random)!
        }
      }
      let footerOffset = bytes.count - LayerFooter.encodedByteCount
      switch random.next() % 3 {
      case 0:
        let block = subject.blocks.randomElement(using: &random)!.bytes
        turn(
          block.lowerBound
            + 8..<min(block.upperBound, block.lowerBound + [24, 80, 4000].randomElement(using: &random)!))
        seal(block, from: block.lowerBound + 8, tagAt: block.lowerBound)
      case 1:
        let section = subject.footer.index
        turn(section.offset..<section.end)
        seal(section.offset..<section.end, from: section.offset, tagAt: footerOffset + 168)
      default: turn(footerOffset + 16..<footerOffset + 248)
      }
      seal(footerOffset..<footerOffset + 248, from: footerOffset, tagAt: footerOffset + 248)
      entry.footerTag = bytes.withUnsafeBytes { $0.u64(footerOffset + 248) }
      var image = subject.image
      image.put(subject.path, bytes)
      let bench = LayerBench(SimulatedDisk(image))
      do {
        let layer = try bench.open(entry)
        var buffer = ValueBuffer()
        for version in subject.model.versions {
          _ = try? bench.find(layer, version.key, at: version.sequence, &buffer)
        }
        let cursor = layer.makeCursor(usesCache: true)
        try cursor.seekBack(before: nil)
        var count = 0
        while cursor.current != nil, count < 5000 {
          count += 1
          try cursor.retreat()
        }
        _ = try layer.verify()
        outcomes["read", default: 0] += 1
      } catch {
        Self.expectTyped(error, "seed \(seed)")
        outcomes["error", default: 0] += 1
      }
    }
    #expect(outcomes.count == 2, "\(outcomes)")
  }
}
