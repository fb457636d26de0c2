internal import CStrandline

extension DiskImage {
  /// A hash of all that can be read at and below `path`: names, kinds, sizes and bytes of the volatile tree.
  ///
  /// Equal for trees that no reader can tell apart: inode numbers, holes and pending changes do not count.
  ///
  /// - Parameter excluding: names, at any depth, that are left out with all below them.
  public func hash(of path: String = "/", excluding: Set<String> = []) -> UInt64 {
    guard let number = try? find(path) else { return 0 }
    return hash(number, excluding, seed: 0)
  }

  private func hash(_ number: UInt64, _ excluding: Set<String>, seed: UInt64) -> UInt64 {
    let inode = inode(number)
    switch inode.kind {
    case .file: return chain(inode.content, seed: chain([0], seed: seed))
    case .fifo: return chain([1], seed: seed)
    case .symbolicLink(let target): return chain([2] + target.utf8, seed: seed)
    case .directory:
      var hash = chain([3], seed: seed)
      for (name, target) in inode.entries.sorted(by: { $0.key < $1.key }) where !excluding.contains(name) {
        hash = self.hash(target, excluding, seed: chain(Array(name.utf8), seed: hash))
      }
      return chain([4], seed: hash)
    }
  }

  private func chain(_ content: FileContent, seed: UInt64) -> UInt64 {
    var hash = seed ^ UInt64(content.byteCount)
    for (index, page) in content.pages.enumerated() {
      guard let page else { continue }
      page.withUnsafeBytes { bytes in
        // A page of zeros must count as much as a hole.
        guard bytes.contains(where: { $0 != 0 }) else { return }
        hash = strandline_xxh3(bytes.baseAddress, bytes.count, hash &+ UInt64(index))
      }
    }
    return hash
  }

  private func chain(_ bytes: [UInt8], seed: UInt64) -> UInt64 {
    bytes.withUnsafeBytes { strandline_xxh3($0.baseAddress, $0.count, seed) }
  }
}
