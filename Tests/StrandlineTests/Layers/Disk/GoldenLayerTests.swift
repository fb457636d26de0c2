import Glibc
import StrandlineTestSupport
import Testing

@testable import Strandline
@testable @_spi(Engine) import StrandlineLog

/// Layer files of format version 1, as `Tests/Fixtures/v1/layers` has them: added to, never made anew.
enum GoldenLayer: String, CaseIterable {
  /// Nothing that LZ4 could make smaller: every version of the library writes the same bytes.
  case plain
  /// Compressed blocks without a dictionary, many versions of a key, a row larger than a block.
  case compressed
  /// Blocks that refer to a dictionary.
  case dictionary

  var model: LayerModel {
    var random = SeededGenerator(seed: 1)
    var versions: [OwnedVersion] = []
    let keys = (0..<30).map { _ in random.bytes(16) }
    for (number, key) in keys.enumerated() {
      let table = StoreKey(KeyPrefix(.row, table: UInt16(number % 2)), key)
      versions.append(OwnedVersion(table, UInt64(100 + number), random.bytes(70)))
      versions.append(OwnedVersion(table, UInt64(50 + number), number % 3 == 0 ? nil : random.bytes(30)))
    }
    versions.append(OwnedVersion(StoreKey(KeyPrefix(.meta), []), 7, []))
    guard self != .plain else { return LayerModel(versions) }
    for number in 0..<400 {
      let key = StoreKey(KeyPrefix(.stream), Array("stream-\(number % 3)".utf8))
      versions.append(OwnedVersion(key, UInt64(number + 1), LayerShape.text(90, &random)))
    }
    versions.append(OwnedVersion(StoreKey(KeyPrefix(.stream), Array("tide".utf8)), 5, LayerShape.text(30_000, &random)))
    return LayerModel(versions)
  }

  func write(in bench: LayerBench) throws -> LayerEntry {
    var random = SeededGenerator(seed: 2)
    return try bench.write(
      model, dictionary: self == .dictionary ? .given(LayerShape.text(2000, &random)) : .none, keyCountMax: 60,
      level: 2,
      covering: SequenceNumber(1)...SequenceNumber(500), horizon: 40,
      times: [TimeSample(sequence: 1, milliseconds: -1), TimeSample(sequence: 400, milliseconds: 1 << 40)])
  }

  static let directory =
    String(#filePath.split(separator: "/").dropLast(4).reduce("") { $0 + "/" + $1 }) + "/Fixtures/v1/layers"
}

struct GoldenLayerTests {
  /// The entry that META would have, from the file alone.
  private func entry(_ bytes: [UInt8], named name: String) throws -> LayerEntry {
    let name = try #require(LayerFileName(name))
    let (header, tag, level) = try bytes.withUnsafeBytes { bytes in
      (try LayerHeader(decodingBlock: bytes), bytes.u64(bytes.count - 8), bytes.u8(bytes.count - 256 + 88))
    }
    #expect(header.id == name.id && header.lastSequence == name.lastSequence)
    return LayerEntry(
      id: header.id, level: level, firstSequence: header.firstSequence, lastSequence: header.lastSequence,
      byteCount: UInt64(bytes.count), footerTag: tag, salt: header.salt)
  }

  private func recorded(_ golden: GoldenLayer) throws -> (bytes: [UInt8], entry: LayerEntry, bench: LayerBench) {
    let bench = LayerBench(PosixFileSystem(), path: "\(GoldenLayer.directory)/\(golden.rawValue)")
    let name = try #require(try PosixFileSystem().list(bench.directory.path).first)
    let file = try PosixFileSystem().open(bench.directory.path(of: name), .read)
    defer { _ = try? PosixFileSystem().close(file) }
    let bytes = try PosixFileSystem().readBytes(file, at: 0, byteCount: 1 << 20)
    return (bytes, try entry(bytes, named: name), bench)
  }

  @Test(arguments: GoldenLayer.allCases)
  func `a layer of format 1 holds what it held`(golden: GoldenLayer) throws {
    let (_, entry, bench) = try recorded(golden)
    let layer = try bench.open(entry)
    #expect(try layer.verify().isEmpty)
    #expect(layer.horizon == 40 && layer.times.map(\.milliseconds) == [-1, 1 << 40] && entry.level == 2)
    let cursor = layer.makeCursor()
    try cursor.seekBack(before: nil)
    var buffer = ValueBuffer()
    for version in golden.model.versions.reversed() {
      #expect(cursor.current.map { OwnedVersion(copying: $0) } == version)
      try cursor.retreat()
      #expect(try bench.find(layer, version.key, at: version.sequence, &buffer).1 == version.value)
    }
    #expect(cursor.current == nil)
  }

  @Test func `the writer makes the bytes that are on record`() throws {
    let disk = SimulatedDisk()
    let made = try GoldenLayer.plain.write(in: LayerBench(disk))
    let (bytes, entry, _) = try recorded(.plain)
    #expect(made == entry)
    #expect(disk.image.bytes(of: "/store/\(made.fileName)") == bytes)
  }

  /// Makes the layers in the directory that `STRANDLINE_WRITE_GOLDEN` names, for a new format version. Existing ones are left alone.
  @Test(.enabled(if: getenv("STRANDLINE_WRITE_GOLDEN") != nil, "STRANDLINE_WRITE_GOLDEN names no directory"))
  func `golden layers are written on demand`() throws {
    let target = try #require(getenv("STRANDLINE_WRITE_GOLDEN").map { String(cString: $0) }) + "/layers"
    mkdir(target, 0o755)
    for golden in GoldenLayer.allCases {
      _ = try golden.write(in: LayerBench(PosixFileSystem(), path: "\(target)/\(golden.rawValue)"))
    }
  }
}
