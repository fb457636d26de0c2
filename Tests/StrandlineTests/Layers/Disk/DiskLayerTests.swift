import StrandlineTestSupport
import Testing

@testable import Strandline
@testable @_spi(Engine) import StrandlineLog

/// A layer answers as an array of its versions would.
struct DiskLayerTests {
  private struct Case: CustomStringConvertible, Sendable {
    var shape: LayerShape
    var hasDictionary: Bool
    var cacheByteCount: Int
    var description: String { "\(shape), \(hasDictionary ? "dictionary" : "plain"), cache \(cacheByteCount)" }
  }

  private static let cases = LayerShape.all.flatMap { shape in
    [(false, 0), (true, 8 << 20), (true, 60_000)].map {
      Case(shape: shape, hasDictionary: $0.0, cacheByteCount: $0.1)
    }
  }

  private static func dictionary(_ model: LayerModel) -> [UInt8] {
    var dictionary = LayerDictionary(offering: model.versions.count * 100)
    for version in model.versions { version.withView { dictionary.offer($0) } }
    return dictionary.bytes.isEmpty ? [1, 2, 3] : dictionary.bytes
  }

  private static func make(_ test: Case, seed: UInt64) throws -> (LayerBench, LayerModel, DiskLayer) {
    var random = SeededGenerator(seed: seed)
    let model = LayerModel(test.shape.make(&random))
    let bench = LayerBench()
    let entry = try bench.write(model, dictionary: test.hasDictionary ? .given(dictionary(model)) : .none)
    return (bench, model, try bench.open(entry, cache: BlockCache(byteCountMax: test.cacheByteCount)))
  }

  @Test(arguments: cases)
  private func `every version is found at every sequence number, and nothing else is`(_ test: Case) throws {
    let seed: UInt64 = 11
    let (bench, model, layer) = try Self.make(test, seed: seed)
    var random = SeededGenerator(seed: seed)
    var buffer = ValueBuffer()
    for pass in 0..<2 {
      for version in model.versions.shuffled(using: &random).prefix(3000) {
        for sequence in [version.sequence, version.sequence - 1, version.sequence + 1, .max] {
          let found = try bench.find(layer, version.key, at: sequence, &buffer)
          let expected = model.find(version.key, at: sequence)
          #expect(
            found.0 == expected.0 && found.1 == expected.1, "seed \(seed), pass \(pass), \(version.key) at \(sequence)")
        }
        var other = version.key
        switch random.next() % 5 {
        case 0: other.bytes.append(0)
        case 1: if !other.bytes.isEmpty { other.bytes.removeLast() }
        case 2: if !other.bytes.isEmpty { other.bytes[other.bytes.count / 2] ^= 1 << UInt8(random.next() % 8) }
        case 3: other.prefix.rawValue += 1
        default: other.bytes = random.bytes(16)
        }
        guard other.bytes.count <= StoreLimits.keyByteCountMax else { continue }
        let found = try bench.find(layer, other, &buffer)
        let expected = model.find(other, at: .max)
        #expect(found.0 == expected.0 && found.1 == expected.1, "seed \(seed), \(other)")
      }
    }
    #expect(try layer.verify().isEmpty)
  }

  @Test(arguments: cases, [false, true])
  private func `cursors go through all versions in order, both ways and from anywhere`(
    _ test: Case, usesCache: Bool
  ) throws {
    let seed: UInt64 = 12
    let (_, model, layer) = try Self.make(test, seed: seed)
    var random = SeededGenerator(seed: seed)
    let cursor = layer.makeCursor(usesCache: usesCache)
    #expect(cursor.current == nil)
    var seen: [OwnedVersion] = []
    try StoreKey(KeyPrefix(rawValue: 0)).withView { (key) throws(StoreError) in try cursor.seek(to: key) }
    while let version = cursor.current {
      seen.append(OwnedVersion(copying: version))
      try cursor.advance()
    }
    #expect(seen == model.versions, "seed \(seed)")
    seen = []
    try cursor.seekBack(before: nil)
    while let version = cursor.current {
      seen.append(OwnedVersion(copying: version))
      try cursor.retreat()
    }
    #expect(seen == model.versions.reversed(), "seed \(seed)")

    for _ in 0..<300 {
      var key = model.versions.randomElement(using: &random)?.key ?? StoreKey(LayerShape.row)
      switch random.next() % 6 {
      case 0: key.bytes.append(0)
      case 1: if !key.bytes.isEmpty { key.bytes.removeLast() }
      case 2: key.prefix.rawValue += 1
      case 3: key.bytes = random.bytes(Int(random.next() % 9))
      default: break
      }
      let back = random.next() % 2 == 0
      var place = model.index(from: key)
      if back {
        try key.withView { (key) throws(StoreError) in try cursor.seekBack(before: key) }
        place -= 1
      } else {
        try key.withView { (key) throws(StoreError) in try cursor.seek(to: key) }
      }
      for _ in 0..<random.next() % 80 {
        let found = cursor.current.map { OwnedVersion(copying: $0) }
        let expected = model.versions.indices.contains(place) ? model.versions[place] : nil
        #expect(found == expected, "seed \(seed), from \(key), \(back ? "back" : "on")")
        guard found == expected else { break }
        // Mostly one way; at an end it stands in front of the first or behind the last.
        switch random.next() % 12 {
        case 0,
          1 where !back:
          try cursor.advancePastKey()
          let key = expected?.key
          repeat { place += 1 } while place < model.versions.count && key != nil && model.versions[place].key == key
        case 2...5 where back, 2...10 where !back:
          try cursor.advance()
          place += 1
        default:
          try cursor.retreat()
          place -= 1
        }
        place = min(max(place, -1), model.versions.count)
      }
    }
  }

  @Test(arguments: cases)
  private func `what a layer says of itself is so`(_ test: Case) throws {
    let (_, model, layer) = try Self.make(test, seed: 13)
    #expect(layer.versionCount == model.versions.count)
    #expect(layer.deleteCount == model.versions.count { $0.value == nil })
    #expect(layer.keyCount == model.keys.count)
    #expect(layer.horizon == 3)
    let statistics = layer.prefixStatistics
    #expect(statistics.map(\.prefix) == Set(model.versions.map(\.key.prefix)).sorted())
    for of in statistics {
      let versions = model.versions.filter { $0.key.prefix == of.prefix }
      #expect(of.versionCount == UInt64(versions.count))
      #expect(of.deleteCount == UInt64(versions.count { $0.value == nil }))
      #expect(of.rawByteCount == versions.reduce(0) { $0 + UInt64(3 + $1.key.bytes.count + ($1.value?.count ?? 0)) })
    }
    #expect(statistics.reduce(0) { $0 + $1.storedByteCount } <= UInt64(layer.byteCount))
  }

  @Test func `a large layer chooses small blocks with a dictionary, a small one or random bytes large blocks`() throws {
    var random = SeededGenerator(seed: 14)
    let bench = LayerBench()
    let large = try bench.open(try bench.write(LayerModel(LayerShape.uuids(12_000).make(&random)), seed: 1))
    #expect(large.footer.blockByteCount == LayerFormat.smallBlockByteCount)
    #expect(large.dictionary.count > LayerFormat.dictionaryByteCountMax / 2)
    let small = try bench.open(try bench.write(LayerModel(LayerShape.uuids(1000).make(&random)), seed: 2))
    #expect(small.footer.blockByteCount == LayerFormat.largeBlockByteCount)
    let noise = (0..<9000).map { _ in OwnedVersion(StoreKey(LayerShape.row, random.bytes(16)), 1, random.bytes(120)) }
    let plain = try bench.open(try bench.write(LayerModel(noise), seed: 3))
    #expect(plain.footer.blockByteCount == LayerFormat.largeBlockByteCount)
    #expect(plain.dictionary.isEmpty)
  }

  @Test func `a filter lets about one in a hundred absent keys through, however many keys were expected`() throws {
    var random = SeededGenerator(seed: 15)
    for factor in [1, 3, 50] {
      let keys = 20_000
      var builder = KeyFilterBuilder(keyCountMax: keys * factor)
      let hashes = (0..<keys).map { _ in random.next() }
      for hash in hashes { builder.insert(hash) }
      builder.fold()
      let lineCount = builder.bytes.count / KeyFilter.lineByteCount
      #expect(builder.bytes.count * 8 <= keys * KeyFilter.bitsPerKey * 9 / 4)
      func mayContain(_ hash: UInt64) -> Bool {
        KeyFilter.mayContain(
          hash,
          in: builder.bytes.baseAddress! + KeyFilter.line(of: hash, lineCount: lineCount) * KeyFilter.lineByteCount)
      }
      #expect(hashes.allSatisfy(mayContain))
      let passed = (0..<100_000).count { _ in mayContain(random.next()) }
      #expect(passed < 1600, "\(passed) of 100,000, \(lineCount) lines")
    }
  }

  @Test func `times come back as they were given`() throws {
    let bench = LayerBench()
    let times = (1...20).map { TimeSample(sequence: UInt64($0) * 10, milliseconds: Int64($0) - 5) }
    let entry = try bench.write(LayerModel([OwnedVersion(StoreKey(LayerShape.row), 1, [])]), times: times)
    #expect(try bench.open(entry).times == times)
    #expect(entry.level == 1 && entry.lastSequence == SequenceNumber(1 << 40))
  }
}
