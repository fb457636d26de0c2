internal import CStrandline

// What every layer of the stack speaks: versions of keys. A version is what one commit did to one key.

/// One version, in memory that a layer or cursor owns.
struct VersionView {
  var key: KeyView
  /// Of the commit.
  var sequence: UInt64
  /// Nil: the commit deleted the key.
  var value: UnsafeRawBufferPointer?
}

/// What a layer knows of a key.
enum Finding: Equatable {
  /// No version at or below the sequence asked for; a layer below may have one.
  case absent
  case deleted(sequence: UInt64)
  /// The value lies in the buffer that was handed in.
  case found(sequence: UInt64)
}

/// Versions in order: keys ascending, of one key the newest first.
///
/// `current` is valid until the next call. A cursor belongs to one thread and keeps its layer alive. From in front of the first
/// version `advance` goes to it, from behind the last one `retreat` does. After an error only a seek is defined.
protocol VersionCursor: AnyObject {
  /// Whether what `current` gave stays valid as long as the cursor is held. Spares scans a copy.
  static var viewsStay: Bool { get }
  /// Nil in front of the first and behind the last version, and before the first seek.
  var current: VersionView? { get }
  /// To the first version at or behind the key.
  func seek(to key: KeyView) throws(StoreError)
  /// To the last version in front of the key; nil: to the very last.
  func seekBack(before key: KeyView?) throws(StoreError)
  func advance() throws(StoreError)
  func retreat() throws(StoreError)
  /// To the first version of the next key; from in front to the first of all. Scans call it once per row.
  func advancePastKey() throws(StoreError)
}

extension VersionCursor {
  static var viewsStay: Bool { false }

  /// For cursors that have no better way: copies the key.
  func advancePastKey() throws(StoreError) {
    guard let key = current.map({ StoreKey(copying: $0.key) }) else { return try advance() }
    repeat { try advance() } while key.withView { view in current.map { KeyView.compare($0.key, view) == 0 } ?? false }
  }
}

/// Memory that values are copied into, used again for one read after another.
struct ValueBuffer: ~Copyable {
  private var memory: UnsafeMutableRawBufferPointer
  private(set) var count = 0

  init(capacity: Int = 512) { memory = .allocate(byteCount: capacity, alignment: 16) }

  deinit { memory.deallocate() }

  /// What was copied in last.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[0..<count]) }

  /// Room for `byteCount` bytes, to be filled by the caller; what was in it is gone.
  @inline(__always)
  mutating func room(for byteCount: Int) -> UnsafeMutableRawBufferPointer {
    if byteCount > memory.count {
      memory.deallocate()
      memory = .allocate(byteCount: max(byteCount, memory.count * 2), alignment: 16)
    }
    count = byteCount
    return UnsafeMutableRawBufferPointer(rebasing: memory[0..<byteCount])
  }

  @inline(__always)
  mutating func set(_ source: UnsafeRawBufferPointer) { room(for: source.count).copyMemory(from: source) }
}

/// The hash of a key, for memory layers and filters alike: XXH3-64 of prefix and bytes, seeded per store.
enum KeyHash {
  @inline(__always)
  static func of(_ key: KeyView, seed: UInt64) -> UInt64 {
    strandline_xxh3(key.bytes.baseAddress, key.bytes.count, seed ^ UInt64(key.prefix.rawValue) &* 0x9E37_79B9_7F4A_7C15)
  }
}
