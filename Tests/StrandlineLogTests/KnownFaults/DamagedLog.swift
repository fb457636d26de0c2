import StrandlineTestSupport

@testable @_spi(Engine) import StrandlineLog

/// A log on a disk in memory that tests write, damage and open again.
final class DamagedLog {
  static let path = "/store"

  var disk = SimulatedDisk()
  let clock = ManualClock()
  private let bits: SeededBits
  var options = LogOptions()

  init(seed: UInt64 = 1) {
    bits = SeededBits(seed: seed)
    options.helpers = .callerRuns
    options.replayThreadCount = 1
    options.segmentByteCountMax = 4 << 10
    options.spaceAheadByteCount = 64 << 10
  }

  /// What opening found.
  struct Opened {
    var log: Log
    var records: [[UInt8]]
    var sequences: [UInt64]
  }

  func open(on fileSystem: (any FileSystem)? = nil, access: LogOptions.Access = .readWrite) throws(LogError) -> Opened {
    var options = options
    options.access = access
    let bits = bits
    options.environment = Environment(fileSystem: fileSystem ?? disk, clock: clock, randomBits: { bits.next() })
    var records: [[UInt8]] = []
    var sequences: [UInt64] = []
    let log = try Log.open(at: Self.path, options: options) { (batch) throws(LogError) in
      for frame in batch.frames {
        if frame.kind == .reset { (records, sequences) = ([], []) }
        for record in batch.records(of: frame) {
          records.append(Array(record))
          sequences.append(frame.sequence.rawValue)
        }
      }
    }
    return Opened(log: log, records: records, sequences: sequences)
  }

  /// Opens, appends one commit for each number, and lets go without a close.
  func append(_ values: Range<Int>, closing: Bool = false) throws {
    let opened = try open()
    for value in values { try opened.log.append([Self.record(value)]) }
    if closing { try opened.log.close() }
  }

  /// 40 to 640 bytes that name their number.
  static func record(_ value: Int) -> [UInt8] {
    Array("record \(value) ".utf8) + [UInt8](repeating: UInt8(truncatingIfNeeded: value), count: 30 + value * 37 % 600)
  }

  static func records(_ values: Range<Int>) -> [[UInt8]] { values.map(record) }

  /// Paths of the segments, oldest first.
  var segments: [String] {
    StoreListing(disk.image.names(in: Self.path)).segments.map { "\(Self.path)/\($0)" }
  }

  struct Spot: Hashable {
    var path: String
    var offset: Int
    var header: FrameHeader
    var end: Int { offset + header.frameByteCount }
  }

  /// The frames of a segment as they lie, by their headers.
  func frames(of path: String) -> [Spot] {
    guard let bytes = disk.image.bytes(of: path) else { return [] }
    var spots: [Spot] = []
    bytes.withUnsafeBytes { buffer in
      guard let header = try? SegmentHeader(decodingBlock: buffer) else { return }
      var offset = SegmentHeader.blockByteCount
      while offset + FrameHeader.byteCount <= buffer.count,
        let frame = try? FrameHeader(
          decoding: UnsafeRawBufferPointer(rebasing: buffer[offset...]), salt: header.salt,
          lsn: header.baseLSN.advanced(by: Int64(offset)))
      {
        spots.append(Spot(path: path, offset: offset, header: frame))
        offset += frame.frameByteCount
      }
    }
    return spots
  }

  /// The frames of the last segment.
  var tail: [Spot] { segments.last.map { frames(of: $0) } ?? [] }

  /// Writes a frame with right tags at the end of the last segment, whatever its fields say.
  func forge(_ change: (inout FrameHeader) -> Void, payload: [UInt8] = []) throws {
    guard let path = segments.last, let bytes = disk.image.bytes(of: path), let last = tail.last else { return }
    let (salt, base, previousTag) = try bytes.withUnsafeBytes { buffer in
      let header = try SegmentHeader(decodingBlock: buffer)
      return (header.salt, header.baseLSN, buffer.u64(last.offset + 56))
    }
    let lsn = base.advanced(by: Int64(last.end))
    let padded = payload + [UInt8](repeating: 0, count: paddedTo8(payload.count) - payload.count)
    var header = FrameHeader(
      kind: .data, codec: .raw, continues: false, storedByteCount: payload.count, rawByteCount: payload.count,
      sequence: last.header.sequence.next, recordCount: 0, epoch: last.header.epoch, durable: .zero,
      previousTag: previousTag, bodyTag: Tag.of(padded, seed: Tag.bodySeed(salt: salt, lsn: lsn)))
    change(&header)
    var frame = [UInt8](repeating: 0, count: FrameHeader.byteCount)
    frame.withUnsafeMutableBytes { _ = header.encode(into: $0, salt: salt, lsn: lsn) }
    disk.edit { $0.poke(path, at: last.end, frame + padded) }
  }

  /// The reason why opening refuses; nil if it does not, or for another error than corruption.
  func refusal() -> CorruptionReport? {
    do throws(LogError) {
      _ = try open()
      return nil
    } catch {
      guard case .corrupt(let report) = error else { return nil }
      return report
    }
  }
}
