/// The records of a commit that is being put together.
///
/// Records are copied, and from 4 KiB up compressed, on the thread that appends them, so that the writer has little left to
/// do. Made by ``Log/draft()``, used up by `Log.append`; thrown away it leaves nothing.
public struct CommitDraft: ~Copyable, Sendable {
  /// Bytes of one record at most: 16 MiB.
  public static let recordByteCountMax = 16 << 20

  /// Records appended so far.
  public private(set) var recordCount = 0
  /// Bytes of the commit as it will be stored, headers included, before the last frame is compressed.
  public var byteCount: Int { closedByteCount + payloadByteCount }

  /// When the draft was made, in milliseconds since 1970.
  @_spi(Engine) public let time: Int64
  private let compresses: Bool
  private let byteCountMax: Int
  private var closed: [EncodedFrame] = []
  private var closedByteCount = 0
  /// The frame that is being filled: room for its header, then its payload.
  private var framed: [UInt8] = []
  private var framedRecordCount = 0
  private var payloadByteCount: Int { framed.count - FrameHeader.byteCount }

  // Frames of this size compress as well as larger ones and keep replay's units even (blocks of 64 KiB and 256 KiB
  // differ by 1 % in size). A record above it has a frame of its own.
  private static let frameByteCountTarget = 256 << 10

  init(time: Int64, compresses: Bool, byteCountMax: Int) {
    self.time = time
    self.compresses = compresses
    self.byteCountMax = byteCountMax
    framed.reserveCapacity(448)
    framed.append(contentsOf: EncodedFrame.headerRoom)
    appendVarint(Varint.zigZag(time))
  }

  /// Adds one record, possibly empty; the bytes are copied.
  ///
  /// - Throws: ``LogError/limitExceeded(_:)`` for a record above 16 MiB or a commit above
  ///   ``LogOptions/commitByteCountMax``; the draft is as before.
  /// - Complexity: O(bytes).
  public mutating func append(_ record: UnsafeRawBufferPointer) throws(LogError) {
    try append(byteCount: record.count) { room in room.copyMemory(from: record) }
  }

  /// Adds one record of `byteCount` bytes, all of which `fill` writes where they will stand.
  ///
  /// Errors and cost as the form for raw buffers, without its copy; `fill` does not run then.
  @_spi(Engine) public mutating func append(
    byteCount recordByteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(LogError) {
    guard recordByteCount <= Self.recordByteCountMax else {
      throw .limitExceeded(
        Limit(name: .recordByteCount, value: UInt64(recordByteCount), maximum: UInt64(Self.recordByteCountMax)))
    }
    let lengthByteCount = Varint.byteCount(UInt64(recordByteCount))
    let length = lengthByteCount + recordByteCount
    guard byteCount + length <= byteCountMax else {
      throw .limitExceeded(
        Limit(name: .commitByteCount, value: UInt64(byteCount + length), maximum: UInt64(byteCountMax)))
    }
    if framedRecordCount > 0, payloadByteCount + length > Self.frameByteCountTarget {
      closeFrame()
      framed.removeAll(keepingCapacity: true)
      framed.append(contentsOf: EncodedFrame.headerRoom)
      framedRecordCount = 0
    }
    framed.append(addingCapacity: length) { output in
      output.withUnsafeMutableBufferPointer { room, initializedCount in
        let base = UnsafeMutableRawPointer(room.baseAddress.unsafelyUnwrapped)
        _ = Varint.write(UInt64(recordByteCount), to: base)
        fill(UnsafeMutableRawBufferPointer(start: base + lengthByteCount, count: recordByteCount))
        initializedCount += length
      }
    }
    framedRecordCount += 1
    recordCount += 1
  }

  /// Adds one record; the bytes are copied. Errors and cost as the form for raw buffers.
  public mutating func append(_ record: [UInt8]) throws(LogError) {
    try record.span.bytes.withUnsafeBytes { (bytes) throws(LogError) in try append(bytes) }
  }

  /// Adds one record; the bytes are copied. Errors and cost as the form for raw buffers.
  public mutating func append(_ record: RawSpan) throws(LogError) {
    try record.withUnsafeBytes { (bytes) throws(LogError) in try append(bytes) }
  }

  /// The frames of the commit; the last one is the one that does not continue.
  consuming func frames() -> [EncodedFrame] {
    closeFrame()
    return closed
  }

  private mutating func closeFrame() {
    let frame = EncodedFrame(
      kind: .data, takingFrom: &framed, recordCount: framedRecordCount, compresses: compresses)
    closedByteCount += frame.byteCount
    closed.append(frame)
  }

  private mutating func appendVarint(_ value: UInt64) {
    withUnsafeTemporaryAllocation(byteCount: Varint.byteCountMax, alignment: 1) { bytes in
      guard let base = bytes.baseAddress else { return }
      let count = Varint.write(value, to: base)
      framed.append(contentsOf: UnsafeRawBufferPointer(start: base, count: count))
    }
  }
}
