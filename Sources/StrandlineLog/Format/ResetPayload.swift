/// What a RESET frame carries besides its records.
///
/// Always stored raw and at most 34,840 bytes, so that it fits into the space kept for it.
public struct ResetPayload: Hashable, Sendable {
  /// The epoch that begins.
  public var epoch: UInt64
  /// Why, in the numbers of the layer above.
  public var cause: UInt32
  /// Milliseconds since 1970, for people.
  public var time: Int64
  /// The layers of the new state, top first; empty for an empty state.
  public var base: [LayerEntry]

  /// Records that live on: their list, each a varint length and its bytes, as in a DATA frame.
  static let carriedByteCountMax = 32 << 10
  static let fixedByteCount = 24
  static let byteCountMax = fixedByteCount + LayerEntry.countMax * LayerEntry.encodedByteCount + carriedByteCountMax

  //  byte 0       8       12          16     24
  //       +-------+-------+-----------+------+- - - - - - - - - - - - +- - - - - - - - - - - - -+
  //       | epoch | cause | baseCount | time | baseCount × 64 layers  | records to the end      |
  //       +-------+-------+-----------+------+- - - - - - - - - - - - +- - - - - - - - - - - - -+
  func encoded(records: [UInt8]) -> [UInt8] {
    precondition(base.count <= LayerEntry.countMax && records.count <= Self.carriedByteCountMax)
    let recordsOffset = Self.fixedByteCount + base.count * LayerEntry.encodedByteCount
    var payload = [UInt8](repeating: 0, count: recordsOffset)
    payload.withUnsafeMutableBytes { bytes in
      bytes.put(epoch, at: 0)
      bytes.put(cause, at: 8)
      bytes.put(UInt32(base.count), at: 12)
      bytes.put(time, at: 16)
      for (index, layer) in base.enumerated() {
        layer.encode(into: bytes, at: Self.fixedByteCount + index * LayerEntry.encodedByteCount)
      }
    }
    return payload + records
  }

  /// Decodes a RESET frame's payload; nil if it is not one. `recordsOffset` is where the carried records begin.
  static func decode(_ payload: UnsafeRawBufferPointer) -> (reset: ResetPayload, recordsOffset: Int)? {
    guard payload.count >= fixedByteCount, payload.count <= byteCountMax else { return nil }
    let baseCount = payload.u32(12)
    guard baseCount <= UInt32(LayerEntry.countMax) else { return nil }
    let recordsOffset = fixedByteCount + Int(baseCount) * LayerEntry.encodedByteCount
    guard recordsOffset <= payload.count, payload.u64(0) < UInt64(Int64.max) else { return nil }
    var base: [LayerEntry] = []
    for index in 0..<Int(baseCount) {
      guard let layer = LayerEntry(decoding: payload, at: fixedByteCount + index * LayerEntry.encodedByteCount)
      else { return nil }
      base.append(layer)
    }
    let reset = ResetPayload(
      epoch: payload.u64(0), cause: payload.u32(8), time: Int64(bitPattern: payload.u64(16)), base: base)
    return (reset, recordsOffset)
  }
}
