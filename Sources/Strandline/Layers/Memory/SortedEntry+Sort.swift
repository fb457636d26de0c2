// Sorting of entries: by one byte of their heads after the other while there are many, by merging when there are few or when their
// heads do not tell them apart. Never worse than O(n log n), whatever keys a client makes up.
//
// HOT PATH: a scan of a memory layer that was not sorted yet, and the freezing of each. Evidence: Docs/Benchmarks.md.

extension SortedEntry {
  private typealias Entries = UnsafeMutablePointer<SortedEntry>
  private static let mergedCountMax = 512
  private static let insertedCountMax = 12
  private static let digitCount = 16

  static func sort(_ entries: UnsafeMutableBufferPointer<SortedEntry>) {
    guard let base = entries.baseAddress, !isSorted(base, entries.count) else { return }
    let spare = LayerMemory(byteCount: SortedRun.byteCount(entries.count))
    let counts = UnsafeMutablePointer<Int>.allocate(capacity: digitCount * 256)
    defer {
      spare.giveBack()
      counts.deallocate()
    }
    sort(base, entries.count, spare.base.assumingMemoryBound(to: SortedEntry.self), digit: 0, counts)
  }

  private static func isSorted(_ entries: Entries, _ count: Int) -> Bool {
    var index = 1
    while index < count {
      if entries[index] < entries[index &- 1] { return false }
      index &+= 1
    }
    return true
  }

  /// - Parameters:
  ///   - digit: The first byte of the heads in which the entries may differ.
  ///   - counts: Room for 256 numbers for each digit.
  private static func sort(
    _ entries: Entries, _ count: Int, _ spare: Entries, digit: Int, _ counts: UnsafeMutablePointer<Int>
  ) {
    var digit = digit
    while count > mergedCountMax && digit < digitCount {
      let ends = counts + digit * 256
      ends.update(repeating: 0, count: 256)
      let shift = UInt64(56 - digit % 8 * 8)
      if digit < 8 {
        distribute(entries, count, spare, ends) { Int(truncatingIfNeeded: $0.high >> shift & 255) }
      } else {
        distribute(entries, count, spare, ends) { Int(truncatingIfNeeded: $0.low >> shift & 255) }
      }
      digit += 1
      // All in one bucket: nothing has moved.
      if ends[255] == -1 { continue }
      var start = 0
      for bucket in 0..<256 {
        let end = ends[bucket]
        if end - start > 1 { sort(entries + start, end - start, spare, digit: digit, counts) }
        start = end
      }
      return
    }
    sortByMerging(entries, count, spare)
  }

  /// Orders the entries by one digit, keeping the order of those that share it, and leaves each bucket's end in `ends`, which comes
  /// in as zeros. With all in one bucket the last end becomes -1.
  @inline(__always)
  private static func distribute(
    _ entries: Entries, _ count: Int, _ spare: Entries, _ ends: UnsafeMutablePointer<Int>,
    by digit: (SortedEntry) -> Int
  ) {
    for index in 0..<count { ends[digit(entries[index])] &+= 1 }
    if ends[digit(entries[0])] == count {
      ends[255] = -1
      return
    }
    var sum = 0
    for bucket in 0..<256 {
      let size = ends[bucket]
      ends[bucket] = sum
      sum &+= size
    }
    for index in 0..<count {
      let bucket = digit(entries[index])
      spare[ends[bucket]] = entries[index]
      ends[bucket] &+= 1
    }
    entries.update(from: spare, count: count)
  }

  private static func sortByMerging(_ entries: Entries, _ count: Int, _ spare: Entries) {
    var start = 0
    while start < count {
      insertInOrder(entries + start, min(insertedCountMax, count - start))
      start += insertedCountMax
    }
    var source = entries
    var target = spare
    var width = insertedCountMax
    while width < count {
      var start = 0
      while start < count {
        let middle = min(start + width, count)
        let end = min(middle + width, count)
        merge(source + start, middle - start, source + middle, end - middle, into: target + start)
        start = end
      }
      swap(&source, &target)
      width *= 2
    }
    if source != entries { entries.update(from: source, count: count) }
  }

  private static func insertInOrder(_ entries: Entries, _ count: Int) {
    var index = 1
    while index < count {
      let entry = entries[index]
      var place = index
      while place > 0, entry < entries[place &- 1] {
        entries[place] = entries[place &- 1]
        place &-= 1
      }
      entries[place] = entry
      index &+= 1
    }
  }

  /// Of equal entries those of the first come first.
  static func merge(
    _ first: UnsafeMutablePointer<SortedEntry>, _ firstCount: Int, _ second: UnsafeMutablePointer<SortedEntry>,
    _ secondCount: Int, into target: UnsafeMutablePointer<SortedEntry>
  ) {
    if firstCount == 0 || secondCount == 0 || !(second[0] < first[firstCount &- 1]) {
      target.update(from: first, count: firstCount)
      (target + firstCount).update(from: second, count: secondCount)
      return
    }
    var one = first
    var other = second
    var out = target
    let oneEnd = first + firstCount
    let otherEnd = second + secondCount
    while one < oneEnd && other < otherEnd {
      let takesOther = other.pointee < one.pointee
      out.pointee = takesOther ? other.pointee : one.pointee
      other += takesOther ? 1 : 0
      one += takesOther ? 0 : 1
      out += 1
    }
    out.update(from: one, count: oneEnd - one)
    (out + (oneEnd - one)).update(from: other, count: otherEnd - other)
  }
}
