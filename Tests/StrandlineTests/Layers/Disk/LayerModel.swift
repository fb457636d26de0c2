import StrandlineTestSupport

@testable import Strandline
@testable @_spi(Engine) import StrandlineLog

/// One version, with bytes of its own.
struct OwnedVersion: Hashable, Comparable {
  var key: StoreKey
  var sequence: UInt64
  var value: [UInt8]?

  init(_ key: StoreKey, _ sequence: UInt64, _ value: [UInt8]?) {
    self.key = key
    self.sequence = sequence
    self.value = value
  }

  init(copying version: VersionView) {
    self.init(StoreKey(copying: version.key), version.sequence, version.value.map(Array.init))
  }

  static func < (left: Self, right: Self) -> Bool {
    left.key == right.key ? left.sequence > right.sequence : left.key < right.key
  }

  func withView<Failure: Error>(_ body: (VersionView) throws(Failure) -> Void) throws(Failure) {
    try key.withView { (key) throws(Failure) in
      guard let value else { return try body(VersionView(key: key, sequence: sequence, value: nil)) }
      try value.span.bytes.withUnsafeBytes { (bytes) throws(Failure) in
        try body(VersionView(key: key, sequence: sequence, value: bytes))
      }
    }
  }
}

/// The dull model of a layer: its versions in an array.
struct LayerModel {
  var versions: [OwnedVersion]

  /// Of two versions with one key and sequence number the first counts.
  init(_ versions: some Sequence<OwnedVersion>) {
    var seen: Set<OwnedVersion> = []
    self.versions = versions.filter { seen.insert(OwnedVersion($0.key, $0.sequence, nil)).inserted }.sorted()
  }

  var keys: [StoreKey] {
    var keys: [StoreKey] = []
    for version in versions where keys.last != version.key { keys.append(version.key) }
    return keys
  }

  /// What a read answers: the finding, and the value.
  func find(_ key: StoreKey, at sequence: UInt64) -> (Strandline.Finding, [UInt8]?) {
    var low = 0
    var high = versions.count
    let probe = OwnedVersion(key, sequence, nil)
    while low < high {
      let middle = (low + high) / 2
      if versions[middle] < probe { low = middle + 1 } else { high = middle }
    }
    guard low < versions.count, versions[low].key == key else { return (.absent, nil) }
    let found = versions[low]
    return found.value == nil
      ? (.deleted(sequence: found.sequence), nil) : (.found(sequence: found.sequence), found.value)
  }

  func index(from key: StoreKey) -> Int { versions.firstIndex { $0.key >= key } ?? versions.count }
}

/// Layers in one directory of one file system.
struct LayerBench {
  let directory: StoreDirectory
  let identifier = StoreIdentifier(high: 1, low: 2)
  let keySeed: UInt64 = 77

  init(_ fileSystem: any FileSystem = SimulatedDisk(), path: String = "/store") {
    directory = StoreDirectory(path: path, fileSystem: fileSystem)
    _ = try? fileSystem.makeDirectory(path)
  }

  func environment(_ seed: UInt64 = 5) -> Environment {
    let bits = SeededBits(seed: seed)
    return Environment(fileSystem: directory.fileSystem, randomBits: { bits.next() })
  }

  func write(
    _ model: LayerModel, dictionary: LayerOptions.Dictionary = .sampled, keyCountMax: Int? = nil, level: UInt8 = 1,
    covering: ClosedRange<SequenceNumber> = SequenceNumber(1)...SequenceNumber(1 << 40), horizon: UInt64 = 3,
    times: [TimeSample] = [], seed: UInt64 = 5
  ) throws(StoreError) -> LayerEntry {
    var options = LayerOptions(keyCountMax: keyCountMax ?? model.versions.count, dictionary: dictionary)
    options.writeByteCount = 16 << 10
    var writer = try LayerWriter(
      in: directory, identifier: identifier, environment: environment(seed), keySeed: keySeed, options: options)
    for version in model.versions {
      try version.withView { (view) throws(StoreError) in try writer.append(view) }
    }
    return try writer.finish(level: level, covering: covering, horizon: horizon, times: times)
  }

  func open(_ entry: LayerEntry, cache: BlockCache = BlockCache(byteCountMax: 1 << 20)) throws(StoreError) -> DiskLayer
  {
    try DiskLayer(opening: entry, in: directory, identifier: identifier, cache: cache, keySeed: keySeed)
  }

  func find(
    _ layer: DiskLayer, _ key: StoreKey, at sequence: UInt64 = .max, _ buffer: inout ValueBuffer
  ) throws(StoreError) -> (Strandline.Finding, [UInt8]?) {
    let finding = try key.withView { (key) throws(StoreError) in
      try layer.find(key, hash: KeyHash.of(key, seed: keySeed), at: sequence, into: &buffer)
    }
    if case .found = finding { return (finding, Array(buffer.bytes)) }
    return (finding, nil)
  }
}

/// Versions of many shapes.
struct LayerShape: CustomStringConvertible, Sendable {
  var name: String
  var make: @Sendable (inout SeededGenerator) -> [OwnedVersion]
  var description: String { name }

  static let row = KeyPrefix(.row, table: 3)

  static func uuids(_ count: Int, versions: Int = 1, valueByteCount: Int = 120) -> LayerShape {
    LayerShape(name: "\(count) uuids, \(versions) versions, values of \(valueByteCount)") { random in
      (0..<count).flatMap { number -> [OwnedVersion] in
        let key = StoreKey(KeyPrefix(.row, table: UInt16(number % 3)), random.bytes(16))
        return (0..<versions).map { version in
          let isDelete = random.next() % 8 == 0
          return OwnedVersion(
            key, random.next() % 1000 + UInt64(version) * 1000 + 1,
            isDelete ? nil : text(valueByteCount, &random))
        }
      }
    }
  }

  /// Words: they compress.
  static func text(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
    let words = ["tide", "leaves", "a line", "on the beach", "how far", "the sea", "had come", "strand", "layer"]
    var bytes: [UInt8] = []
    while bytes.count < count {
      bytes += Array(words.randomElement(using: &random)!.utf8) + [UInt8(truncatingIfNeeded: random.next())]
    }
    return Array(bytes.prefix(count))
  }

  static let all: [LayerShape] = [
    LayerShape(name: "nothing") { _ in [] },
    LayerShape(name: "one empty key") { _ in [OwnedVersion(StoreKey(row), 9, [])] },
    LayerShape(name: "one delete") { _ in [OwnedVersion(StoreKey(row, [1, 2]), 9, nil)] },
    .uuids(300), .uuids(2000, valueByteCount: 20), .uuids(200, versions: 9),
    .uuids(3, versions: 700, valueByteCount: 9),
    .uuids(1500, valueByteCount: 0),
    LayerShape(name: "integers") { random in
      (0..<4000).map { number in
        var key = StoreKey(row)
        withUnsafeBytes(of: (UInt64(number) * 3 | 1 << 63).bigEndian) { key.bytes = Array($0) }
        return OwnedVersion(key, UInt64(number / 100 + 1), text(30, &random))
      }
    },
    LayerShape(name: "long shared beginnings") { random in
      (0..<1500).map { number in
        OwnedVersion(
          StoreKey(KeyPrefix(.stream), Array("order-2024-stream-\(number * 7)".utf8)), UInt64(number) + 1,
          text(Int(random.next() % 90), &random))
      }
    },
    LayerShape(name: "long shared beginnings, many versions") { random in
      (0..<60).flatMap { number in
        (0..<60).map { version in
          OwnedVersion(
            StoreKey(KeyPrefix(.stream), Array("order-2024-stream-\(number * 7)".utf8)),
            UInt64(version * 60 + number) + 1,
            text(Int(random.next() % 90), &random))
        }
      }
    },
    LayerShape(name: "short keys and zeros") { random in
      (0..<3000).map { _ in
        let key = (0..<random.next() % 12).map { _ in UInt8(truncatingIfNeeded: random.next() % 3) }
        return OwnedVersion(
          StoreKey(KeyPrefix(.row, table: UInt16(random.next() % 2)), key), random.next() % 5000 + 1,
          text(Int(random.next() % 40), &random))
      }
    },
    LayerShape(name: "large rows among small") { random in
      (0..<200).map { number in
        let byteCount = [10, 100, 3000, 5000, 20_000, 70_000][Int(random.next() % 6)]
        let value = number % 3 == 0 ? random.bytes(byteCount) : text(byteCount, &random)
        return OwnedVersion(StoreKey(row, random.bytes(Int(random.next() % 40))), random.next() >> 2, value)
      }
    },
    LayerShape(name: "longest keys") { random in
      (0..<120).map { _ in
        let shared = [UInt8](repeating: 7, count: Int(random.next() % 1000))
        return OwnedVersion(
          StoreKey(row, Array((shared + random.bytes(1024 - shared.count)).prefix(1024))), random.next() % 9 + 1,
          random.next() % 3 == 0 ? nil : text(10, &random))
      }
    },
    LayerShape(name: "far apart sequence numbers") { random in
      (0..<900).map { _ in
        OwnedVersion(StoreKey(row, random.bytes(16)), random.next() >> (random.next() % 63 + 1) + 1, random.bytes(20))
      }
    },
  ]
}
