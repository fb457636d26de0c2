internal import Glibc

/// Memory that holds decoded payloads. Given back with its last reference.
///
/// A piece of a `DecodedArena`: what is kept of a replay takes the bytes it has and no more, however small the batches are.
public final class DecodedBytes: Sendable {
  private let arena: DecodedArena
  private let range: Range<Int>

  fileprivate init(_ arena: DecodedArena, _ range: Range<Int>) {
    self.arena = arena
    self.range = range
  }

  /// Memory of its own, for `byteCount` bytes.
  convenience init(byteCount: Int) { self.init(DecodedArena(byteCount: byteCount), 0..<byteCount) }

  /// Valid while this object is held.
  public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(room) }

  /// For whoever fills the memory, before anyone else sees it.
  var room: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(rebasing: arena.memory[range]) }
}

/// Where a replaying thread takes memory for one batch after another. Used by one thread at a time.
struct DecodedMemory: ~Copyable {
  private var arena: DecodedArena?
  private var used = 0

  /// The next `byteCount` bytes.
  mutating func take(_ byteCount: Int) -> DecodedBytes {
    if let arena, arena.memory.count - used >= byteCount {
      used += byteCount
      return DecodedBytes(arena, used - byteCount..<used)
    }
    let fresh = DecodedArena(byteCount: max(byteCount, DecodedArena.byteCountMin))
    arena = fresh
    used = byteCount
    return DecodedBytes(fresh, 0..<byteCount)
  }

  /// Takes the piece back that was handed out last; nobody holds it any more.
  mutating func giveBack(_ bytes: DecodedBytes) { used -= bytes.bytes.count }
}

/// A stretch of memory that batches share.
///
/// Lies on huge pages where the system has them: a first touch of 4 KiB pages costs more than decoding into them.
final class DecodedArena: @unchecked Sendable {
  // Sendable: every piece is written by one thread before others see it, and never again while it is held.
  // Room for many batches: what the last one leaves free at the end is lost. Untouched pages cost nothing.
  static let byteCountMin = 16 << 20
  private static let hugePageByteCount = 2 << 20

  let memory: UnsafeMutableRawBufferPointer

  init(byteCount: Int) {
    if byteCount >= Self.hugePageByteCount / 2 {
      let whole = (byteCount + Self.hugePageByteCount - 1) / Self.hugePageByteCount * Self.hugePageByteCount
      memory = .allocate(byteCount: whole, alignment: Self.hugePageByteCount)
      madvise(memory.baseAddress, whole, MADV_HUGEPAGE)
    } else {
      memory = .allocate(byteCount: max(8, byteCount), alignment: 8)
    }
  }

  deinit { memory.deallocate() }
}
