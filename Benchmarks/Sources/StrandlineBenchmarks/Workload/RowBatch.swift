/// Rows of any index and version in memory, in the order they were asked for: what a run is going to write or look up.
final class RowBatch: @unchecked Sendable {
  // Sendable: nothing changes after init.
  struct Name: Sendable {
    var index: Int
    var version: UInt32 = 0
  }

  let count: Int
  private let bytes: UnsafeMutableRawPointer
  private let offsets: [Int]

  /// With `keysOnly` the rows are cut behind their keys.
  init(_ names: [Name], keysOnly: Bool = false) {
    let generator = RowGenerator(seed: Site.seed)
    let row = UnsafeMutableRawPointer.allocate(byteCount: RowGenerator.scratchByteCount, alignment: 8)
    defer { row.deallocate() }
    var offsets: [Int] = [0]
    offsets.reserveCapacity(names.count + 1)
    var capacity = names.count * (keysOnly ? RowBytes.keyByteCount : 176) + RowGenerator.rowByteCountMax
    var bytes = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
    for name in names {
      let whole = generator.write(name.index, version: name.version, to: row)
      let end = offsets[offsets.count - 1]
      let byteCount = keysOnly ? RowBytes.keyByteCount : whole
      if end + byteCount > capacity {
        let wider = UnsafeMutableRawPointer.allocate(byteCount: capacity * 2, alignment: 8)
        wider.copyMemory(from: bytes, byteCount: end)
        bytes.deallocate()
        bytes = wider
        capacity *= 2
      }
      (bytes + end).copyMemory(from: row, byteCount: byteCount)
      offsets.append(end + byteCount)
    }
    self.bytes = bytes
    self.offsets = offsets
    count = names.count
  }

  convenience init(indices: [Int], version: UInt32 = 0, keysOnly: Bool = false) {
    self.init(indices.map { Name(index: $0, version: version) }, keysOnly: keysOnly)
  }

  deinit { bytes.deallocate() }

  var byteCount: Int { offsets[count] }

  subscript(place: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes + offsets[place], count: offsets[place + 1] - offsets[place])
  }

  func key(_ place: Int) -> UnsafeRawPointer { UnsafeRawPointer(bytes + offsets[place]) }
}
