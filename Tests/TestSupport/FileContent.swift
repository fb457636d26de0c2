/// The bytes of one simulated file: pages of one atom each, and a size that ends the last.
///
/// A page that was never written is a hole: it reads as zeros and takes no space.
struct FileContent: Sendable {
  typealias Page = [UInt8]

  /// Bytes of one page.
  let pageByteCount: Int
  private(set) var pages: [Page?] = []
  private(set) var byteCount: Int64 = 0

  init(pageByteCount: Int) { self.pageByteCount = pageByteCount }

  var allocatedPageCount: Int { pages.reduce(0) { $0 + ($1 == nil ? 0 : 1) } }

  func page(_ index: Int) -> Page? { index < pages.count ? pages[index] : nil }

  /// Sets one page. The size stays: a page behind it is there but cannot be read.
  mutating func setPage(_ index: Int, to page: Page?) {
    if index >= pages.count {
      if page == nil { return }
      pages.append(contentsOf: repeatElement(nil, count: index + 1 - pages.count))
    }
    pages[index] = page
  }

  /// Ends the file at `end`; what lay behind it never comes back.
  mutating func cut(to end: Int64) {
    byteCount = min(byteCount, end)
    let pageCount = Int((end + Int64(pageByteCount) - 1) / Int64(pageByteCount))
    if pages.count > pageCount { pages.removeLast(pages.count - pageCount) }
    let used = Int(end % Int64(pageByteCount))
    guard used > 0, pages.count == pageCount, var last = pages[pageCount - 1] else { return }
    guard last[used...].contains(where: { $0 != 0 }) else { return }
    last.replaceSubrange(used..., with: repeatElement(0, count: pageByteCount - used))
    pages[pageCount - 1] = last
  }

  /// Sets the size as `ftruncate` does.
  mutating func resize(to end: Int64) {
    if end < byteCount { cut(to: end) }
    byteCount = end
  }

  /// Removes pages behind the size, which a lost size change may have left there.
  mutating func trim() { cut(to: byteCount) }

  /// Copies at most `buffer.count` bytes from `offset`; 0 at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
    guard offset < byteCount else { return 0 }
    let count = Int(min(Int64(buffer.count), byteCount - offset))
    var done = 0
    while done < count {
      let place = Int(offset) + done
      let index = place / pageByteCount
      let start = place % pageByteCount
      let length = min(pageByteCount - start, count - done)
      let target = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + length])
      if let page = page(index) {
        page.withUnsafeBytes { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<start + length])) }
      } else {
        _ = target.initializeMemory(as: UInt8.self, repeating: 0)
      }
      done += length
    }
    return count
  }

  /// All bytes.
  var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Int(byteCount)) { buffer, count in
      count = read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
    }
  }

  /// A file of these bytes.
  init(_ bytes: [UInt8], pageByteCount: Int) {
    self.pageByteCount = pageByteCount
    for start in stride(from: 0, to: bytes.count, by: pageByteCount) {
      var page = Page(bytes[start..<min(start + pageByteCount, bytes.count)])
      page.append(contentsOf: repeatElement(0, count: pageByteCount - page.count))
      pages.append(page)
    }
    byteCount = Int64(bytes.count)
  }
}
