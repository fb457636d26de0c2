/// The records of a frame, one after another, as they lie in memory: each a varint length and its bytes.
///
/// The bytes belong to whoever handed the list out and are valid only as long as that says.
public struct RecordList: Sequence {
  /// The list as stored; proved to hold exactly `count` records.
  public let bytes: UnsafeRawBufferPointer
  public let count: Int

  @usableFromInline
  init(proved bytes: UnsafeRawBufferPointer, count: Int) {
    self.bytes = bytes
    self.count = count
  }

  @inlinable
  public func makeIterator() -> Iterator { Iterator(bytes: bytes, left: count) }

  public struct Iterator: IteratorProtocol {
    @usableFromInline let bytes: UnsafeRawBufferPointer
    @usableFromInline var offset = 0
    @usableFromInline var left: Int

    @inlinable
    init(bytes: UnsafeRawBufferPointer, left: Int) {
      self.bytes = bytes
      self.left = left
    }

    @inlinable
    public mutating func next() -> UnsafeRawBufferPointer? {
      guard left > 0, let length = Varint.read(bytes, at: &offset) else { return nil }
      left &-= 1
      let start = offset
      offset &+= Int(truncatingIfNeeded: length)
      return UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
    }
  }
}
