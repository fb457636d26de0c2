internal import Glibc

/// Memory of a layer: all zeros, on a cache line's boundary, and where it is until it is given back.
///
/// Big stretches are mapped, on huge pages where the system has them: a first touch of 4 KiB pages costs more than filling them, and
/// what was mapped goes back to the system at once.
struct LayerMemory {
  let base: UnsafeMutableRawPointer
  let byteCount: Int

  private static let hugePageByteCount = 2 << 20
  private static let mappedByteCountMin = 1 << 20

  init(byteCount: Int) {
    self.byteCount = byteCount
    if byteCount >= Self.mappedByteCountMin {
      base = Self.map(Self.mappedByteCount(byteCount))
    } else {
      base = .allocate(byteCount: byteCount, alignment: 64)
      base.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    }
  }

  /// The stretch that begins at `base`, to be given back.
  init(at base: UnsafeMutableRawPointer, byteCount: Int) {
    self.base = base
    self.byteCount = byteCount
  }

  func giveBack() {
    if byteCount >= Self.mappedByteCountMin {
      munmap(base, Self.mappedByteCount(byteCount))
    } else {
      base.deallocate()
    }
  }

  private static func mappedByteCount(_ byteCount: Int) -> Int {
    (byteCount + hugePageByteCount - 1) / hugePageByteCount * hugePageByteCount
  }

  /// Maps one huge page more than asked for and gives back what lies in front of and behind the aligned stretch.
  private static func map(_ byteCount: Int) -> UnsafeMutableRawPointer {
    let mapped = mmap(
      nil, byteCount + hugePageByteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let mapped, mapped != MAP_FAILED else { fatalError("no memory for \(byteCount) bytes: errno \(errno)") }
    let base = mapped.alignedUp(toMultipleOf: hugePageByteCount)
    let front = base - mapped
    if front > 0 { munmap(mapped, front) }
    munmap(base + byteCount, hugePageByteCount - front)
    madvise(base, byteCount, MADV_HUGEPAGE)
    return base
  }
}
