/// What a file is that is looked at by itself and in which no header of a segment verifies.
enum SingleFile {
  /// Why it is no segment; nil for one whose header is damaged or cut away.
  ///
  /// Bytes that a damage left tell: a magic number, or a name that only a segment has.
  static func detail(
    of file: SegmentInspection, in fileSystem: any FileSystem
  ) throws(LogError) -> LogError.FormatDetail? {
    // Of another version, or with a field out of range: its own error says more.
    if file.copies.contains(where: { $0.defect?.isOfNoTag == false }) { return nil }
    if file.name != nil { return nil }
    let block: [UInt8]
    do throws(Errno) {
      let descriptor = try fileSystem.openRetrying(file.path, .read)
      defer { fileSystem.closeQuietly(descriptor) }
      block = try fileSystem.readBytes(descriptor, at: 0, byteCount: 2 * RootSlot.byteCount)
    } catch {
      throw SegmentFile.vanishedOrFailed(.open, file.path, error)
    }
    let name = file.path.split(separator: "/").last.map(String.init) ?? ""
    return block.withUnsafeBytes { bytes in
      if SegmentHeader.copyOffsets.contains(where: { holds(SegmentHeader.magic, bytes, at: $0) }) { return nil }
      if holdsFrame(bytes) { return nil }
      let isRoot = [0, RootSlot.byteCount].contains { holds(RootSlot.magic, bytes, at: $0) }
      let isLock = name == LockFile.name && bytes.starts(with: Array("pid ".utf8))
      return isRoot || isLock || LayerFileName(name) != nil ? .partOfStore : .notAStore
    }
  }

  private static func holds(_ magic: UInt64, _ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
    bytes.count >= offset + 8 && bytes.u64(offset) == magic
  }

  /// A frame begins in the first bytes: a piece of a segment.
  private static func holdsFrame(_ bytes: UnsafeRawBufferPointer) -> Bool {
    // A piece may have been cut anywhere, so frames may begin anywhere in it.
    (0..<max(0, bytes.count - 3)).contains { bytes.u32($0) == FrameHeader.magic }
  }
}

extension SegmentHeader.Defect {
  /// The bytes do not prove themselves, so they may be anything.
  fileprivate var isOfNoTag: Bool {
    switch self {
    case .tooShort, .tagMismatch, .notASegment: true
    case .unsupportedMajor, .unknownIncompatibleBit, .fieldOutOfRange: false
    }
  }
}
