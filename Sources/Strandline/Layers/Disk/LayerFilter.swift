@_spi(Engine) internal import StrandlineLog
internal import Synchronization

/// The filter of an open layer. A piece of it is read and proved when a key first needs it.
final class LayerFilter: @unchecked Sendable {
  private let memory: RawMemory
  private let lines: UnsafeMutableRawPointer
  private let lineCount: Int
  /// One for each piece: 1 once its lines may be used.
  private let isRead: UnsafeMutablePointer<Atomic<UInt8>>
  private let partitionCount: Int
  private let lock = Lock<Void>(())

  init(_ footer: LayerFooter) {
    lineCount = footer.filterLineCount
    partitionCount = footer.filterPartitionCount
    memory = RawMemory(byteCount: footer.filterByteCount)
    lines = memory.start
    isRead = .allocate(capacity: max(1, partitionCount))
    for partition in 0..<partitionCount { (isRead + partition).initialize(to: Atomic(0)) }
  }

  deinit {
    isRead.deinitialize(count: partitionCount)
    isRead.deallocate()
  }

  /// The bytes of the lines that were read.
  var readByteCount: Int {
    var count = 0
    for partition in 0..<partitionCount where isRead[partition].load(ordering: .relaxed) != 0 { count += 1 }
    return min(count * LayerFormat.filterPartitionByteCount, memory.bytes.count)
  }

  /// Whether the layer may have a key with this hash. Reads a piece of the filter if it has to.
  @inline(__always)
  func mayContain(_ hash: UInt64, in layer: DiskLayer) throws(StoreError) -> Bool {
    guard lineCount > 0 else { return false }
    let offset = KeyFilter.line(of: hash, lineCount: lineCount) &* KeyFilter.lineByteCount
    let partition = offset / LayerFormat.filterPartitionByteCount
    if isRead[partition].load(ordering: .acquiring) == 0 { try read(partition, of: layer) }
    return KeyFilter.mayContain(hash, in: UnsafeRawPointer(lines + offset))
  }

  /// Reads, proves and publishes one piece.
  private func read(_ partition: Int, of layer: DiskLayer) throws(StoreError) {
    let bytes = RawMemory(byteCount: LayerFormat.filterPartitionByteCount)
    let piece = try layer.readFilterPartition(partition, into: bytes.bytes)
    lock.withLock { _ in
      // Whoever came first has put the same bytes there, and readers may be at them.
      guard isRead[partition].load(ordering: .relaxed) == 0 else { return }
      (lines + partition * LayerFormat.filterPartitionByteCount).copyMemory(
        from: piece.baseAddress!, byteCount: piece.count)
      isRead[partition].store(1, ordering: .releasing)
    }
  }
}
