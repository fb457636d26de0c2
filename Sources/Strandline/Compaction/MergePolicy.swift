/// Which layers are merged next.
///
/// Four adjacent layers of about one size become one, so a byte is rewritten once for each factor of four that the store has grown.
enum MergePolicy {
  /// Layers merged at once.
  static let width = 4
  /// More than this many make reads slow; then whatever is smallest goes together.
  static let layerCountMax = 12

  /// The step of four that a size belongs to, counted from layers as large as one written out of memory.
  static func level(byteCount: UInt64, unit: UInt64) -> UInt8 {
    var level: UInt8 = 0
    var bound = max(unit, 1).multipliedReportingOverflow(by: 2)
    while !bound.overflow, byteCount > bound.partialValue {
      level += 1
      bound = bound.partialValue.multipliedReportingOverflow(by: UInt64(width))
    }
    return level
  }

  /// The layers to merge, by index from the top; nil if all is well.
  ///
  /// - Parameters:
  ///   - byteCounts: sizes of the layers on disk, top first.
  ///   - unit: size of a layer written out of memory.
  ///   - barriers: layers that no merge may take along, ascending.
  static func next(byteCounts: [UInt64], unit: UInt64, around barriers: [Int] = []) -> Range<Int>? {
    var start = 0
    for end in barriers + [byteCounts.count] {
      if let range = next(byteCounts: byteCounts[start..<end], unit: unit) { return range }
      start = end + 1
    }
    return nil
  }

  private static func next(byteCounts: ArraySlice<UInt64>, unit: UInt64) -> Range<Int>? {
    let first = byteCounts.startIndex
    let levels = byteCounts.map { level(byteCount: $0, unit: unit) }
    var start = 0
    while start < levels.count {
      // A run of layers none of which is larger than the first one's step: smaller ones between large ones go along.
      var end = start + 1
      while end < levels.count, levels[end] <= levels[start] { end += 1 }
      if end - start >= width { return first + start..<first + end }
      start += 1
    }
    guard levels.count > layerCountMax else { return nil }
    // The cheapest window.
    let windows = first...(byteCounts.endIndex - width)
    let cost = { (first: Int) in byteCounts[first..<first + width].reduce(UInt64(0)) { $0 &+ $1 } }
    guard let cheapest = windows.min(by: { cost($0) < cost($1) }) else { return nil }
    return cheapest..<cheapest + width
  }
}
