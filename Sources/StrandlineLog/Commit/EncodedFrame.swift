/// A frame that is ready but for what depends on its place: 64 bytes for the header, the stored payload, padding.
struct EncodedFrame: Sendable {
  let kind: FrameKind
  private let codec: FrameCodec
  private let storedByteCount: Int
  private let rawByteCount: Int
  let recordCount: Int
  /// Room for the header, the payload, zeros up to a multiple of eight.
  private let bytes: [UInt8]

  var byteCount: Int { bytes.count }

  /// What is to become a frame begins with this: room for the header.
  static let headerRoom = [UInt8](repeating: 0, count: FrameHeader.byteCount)

  init(kind: FrameKind, raw: [UInt8], recordCount: Int, compresses: Bool) {
    var framed = Self.headerRoom + raw
    self.init(kind: kind, takingFrom: &framed, recordCount: recordCount, compresses: compresses)
  }

  /// A frame whose payload is `framed` behind the room for the header. Takes the memory over and leaves none behind unless
  /// the payload is compressed.
  init(kind: FrameKind, takingFrom framed: inout [UInt8], recordCount: Int, compresses: Bool) {
    self.kind = kind
    self.recordCount = recordCount
    rawByteCount = framed.count - FrameHeader.byteCount
    if compresses, rawByteCount >= LZ4Block.rawByteCountMin, let stored = Self.compressed(framed) {
      codec = .lz4
      storedByteCount = stored.count
      bytes = stored.bytes
      return
    }
    codec = .raw
    storedByteCount = rawByteCount
    for _ in rawByteCount..<paddedTo8(rawByteCount) { framed.append(0) }
    bytes = framed
    framed = []
  }

  /// A frame like `frame`, with the payload as it is stored there.
  init(like frame: FrameHeader, stored: UnsafeRawBufferPointer) {
    precondition(stored.count == frame.storedByteCount, "a frame's payload has the length its header states")
    kind = frame.kind
    codec = frame.codec
    storedByteCount = frame.storedByteCount
    rawByteCount = frame.rawByteCount
    recordCount = frame.recordCount
    let total = frame.frameByteCount
    bytes = [UInt8](unsafeUninitializedCapacity: total) { buffer, count in
      let target = UnsafeMutableRawBufferPointer(buffer)
      Self.zero(target, FrameHeader.byteCount + stored.count..<total)
      UnsafeMutableRawBufferPointer(rebasing: target[FrameHeader.byteCount...]).copyMemory(from: stored)
      count = total
    }
  }

  private static func compressed(_ framed: [UInt8]) -> (bytes: [UInt8], count: Int)? {
    let bound = LZ4Block.bound(framed.count - FrameHeader.byteCount)
    var stored: Int?
    let bytes = [UInt8](unsafeUninitializedCapacity: FrameHeader.byteCount + bound + 8) { buffer, count in
      let target = UnsafeMutableRawBufferPointer(buffer)
      let room = UnsafeMutableRawBufferPointer(rebasing: target[FrameHeader.byteCount..<FrameHeader.byteCount + bound])
      stored = framed.withUnsafeBytes { bytes in
        LZ4Block.compress(UnsafeRawBufferPointer(rebasing: bytes[FrameHeader.byteCount...]), into: room)
      }
      guard let stored else { return }
      count = FrameHeader.byteCount + paddedTo8(stored)
      zero(target, FrameHeader.byteCount + stored..<count)
    }
    return stored.map { (bytes, $0) }
  }

  /// The header's room is filled at writing; the padding is zeroed here.
  private static func zero(_ target: UnsafeMutableRawBufferPointer, _ padding: Range<Int>) {
    UnsafeMutableRawBufferPointer(rebasing: target[0..<FrameHeader.byteCount]).initializeMemory(
      as: UInt8.self, repeating: 0)
    UnsafeMutableRawBufferPointer(rebasing: target[padding]).initializeMemory(as: UInt8.self, repeating: 0)
  }

  /// What a frame's header says about its place.
  struct Place {
    var lsn: LSN
    var salt: UInt64
    var sequence: SequenceNumber
    /// The epoch in force; for a RESET the new one.
    var epoch: UInt64
    var durable: LSN
    var previousTag: UInt64
    var continues: Bool
  }

  /// Writes the whole frame to the start of `target` and returns its header and head tag.
  func write(to target: UnsafeMutableRawBufferPointer, at place: Place) -> (header: FrameHeader, headTag: UInt64) {
    bytes.withUnsafeBytes { target.copyMemory(from: $0) }
    let body = UnsafeRawBufferPointer(rebasing: target[FrameHeader.byteCount..<byteCount])
    let header = FrameHeader(
      kind: kind, codec: codec, continues: place.continues, storedByteCount: storedByteCount,
      rawByteCount: rawByteCount,
      sequence: place.sequence, recordCount: recordCount, epoch: UInt32(truncatingIfNeeded: place.epoch),
      durable: place.durable, previousTag: place.previousTag,
      bodyTag: Tag.of(body, seed: Tag.bodySeed(salt: place.salt, lsn: place.lsn)))
    return (header, header.encode(into: target, salt: place.salt, lsn: place.lsn))
  }
}
