/// Gathers a dictionary: values of rows spread evenly over what will be written.
///
/// Whoever writes a layer of several tables offers all of them, so that each finds its like; a writer left alone knows only
/// the rows that come first.
struct LayerDictionary {
  private(set) var bytes: [UInt8] = []
  private let step: Int
  private var carry = 0

  /// Rows are cut at this many bytes: a few long ones must not take all the room.
  private static let rowByteCountMax = 1024

  /// - Parameter byteCount: about what will be offered.
  init(offering byteCount: Int) {
    step = max(1, byteCount / LayerFormat.dictionaryByteCountMax)
    bytes.reserveCapacity(LayerFormat.dictionaryByteCountMax)
  }

  @inline(__always)
  mutating func offer(_ version: VersionView) {
    carry &-= version.key.bytes.count &+ (version.value?.count ?? 0)
    if carry < 0 { take(version) }
  }

  private mutating func take(_ version: VersionView) {
    // Behind the head of its key an entry of an index is nothing but key.
    let isKeyOnly = version.value?.isEmpty ?? true
    let source = isKeyOnly ? UnsafeRawBufferPointer(rebasing: version.key.bytes.dropFirst(8)) : version.value!
    let room = LayerFormat.dictionaryByteCountMax - bytes.count
    let taken = source.prefix(min(room, Self.rowByteCountMax))
    bytes.append(contentsOf: taken)
    carry += max(1, taken.count) * step
  }

  /// Of layers that exist: every version their cursors give is offered.
  static func sample(_ cursors: [any VersionCursor], byteCount: Int) throws(StoreError) -> [UInt8] {
    var dictionary = LayerDictionary(offering: byteCount)
    for cursor in cursors {
      try cursor.seek(to: KeyView(prefix: KeyPrefix(rawValue: 0), bytes: UnsafeRawBufferPointer(start: nil, count: 0)))
      while let version = cursor.current {
        dictionary.offer(version)
        try cursor.advance()
      }
    }
    return dictionary.bytes
  }
}
