/// The payload of a frame after its header is proved: checked, decoded, split.
@_spi(Engine) public enum FrameBody {
  /// Why a payload does not count although its header does.
  public enum Defect: Error, Hashable, Sendable {
    case tagMismatch(stored: UInt64, computed: UInt64)
    case notDecodable
    case recordsMalformed
  }

  /// Proves the stored payload and its padding.
  static func verify(
    _ storedAndPadding: UnsafeRawBufferPointer, header: FrameHeader, salt: UInt64, lsn: LSN
  ) throws(Defect) {
    let computed = Tag.of(storedAndPadding, seed: Tag.bodySeed(salt: salt, lsn: lsn))
    guard computed == header.bodyTag else { throw .tagMismatch(stored: header.bodyTag, computed: computed) }
  }

  /// Decodes a proved payload to exactly `target.count` bytes.
  static func decode(
    _ payload: UnsafeRawBufferPointer, codec: FrameCodec, into target: UnsafeMutableRawBufferPointer
  ) throws(Defect) {
    switch codec {
    case .raw:
      guard payload.count == target.count else { throw .notDecodable }
      target.copyMemory(from: payload)
    case .lz4:
      guard LZ4Block.decompress(payload, into: target) else { throw .notDecodable }
    }
  }

  /// Where a decoded payload's parts lie.
  struct Layout: Hashable, Sendable {
    /// Milliseconds since 1970; nil in a commit's later frames.
    var time: Int64?
    /// The records' list in the decoded payload.
    var records: Range<Int>
    var reset: ResetPayload?
    var gap: GapPayload?
  }

  /// Walks a decoded payload and proves that it is made as its kind says; every record lies inside it afterwards.
  ///
  /// - Parameters:
  ///   - isFirst: whether the frame begins its commit, and so holds the commit's time.
  ///   - previous: the last sequence number in front of the frame; nil where nobody knows it.
  static func layout(
    of payload: UnsafeRawBufferPointer, header: FrameHeader, isFirst: Bool, behind previous: SequenceNumber?
  ) throws(Defect) -> Layout {
    switch header.kind {
    case .data:
      var offset = 0
      var time: Int64?
      if isFirst {
        guard let value = Varint.read(payload, at: &offset) else { throw .recordsMalformed }
        time = Varint.unZigZag(value)
      }
      try checkRecords(payload, from: offset, count: header.recordCount)
      return Layout(time: time, records: offset..<payload.count)
    case .reset:
      guard let (reset, offset) = ResetPayload.decode(payload) else { throw .recordsMalformed }
      guard UInt32(truncatingIfNeeded: reset.epoch) == header.epoch else { throw .recordsMalformed }
      try checkRecords(payload, from: offset, count: header.recordCount)
      return Layout(time: reset.time, records: offset..<payload.count, reset: reset)
    case .gap:
      guard let gap = GapPayload(decoding: payload), gap.last == header.sequence, header.recordCount == 0
      else { throw .recordsMalformed }
      // A GAP that begins later leaves numbers out that nobody accounts for; one that begins earlier denies commits that are there.
      if let previous, gap.first != previous.next { throw .recordsMalformed }
      return Layout(records: payload.count..<payload.count, gap: gap)
    default:
      return Layout(records: payload.count..<payload.count)
    }
  }

  /// HOT PATH: once per record on replay. Evidence: Docs/Benchmarks.md, "recovery.1M.1thread".
  private static func checkRecords(
    _ payload: UnsafeRawBufferPointer, from start: Int, count: Int
  ) throws(Defect) {
    var offset = start
    var left = count
    while left > 0 {
      guard let length = Varint.read(payload, at: &offset), length <= UInt64(payload.count &- offset)
      else { throw .recordsMalformed }
      offset &+= Int(truncatingIfNeeded: length)
      left &-= 1
    }
    guard offset == payload.count else { throw .recordsMalformed }
  }
}
