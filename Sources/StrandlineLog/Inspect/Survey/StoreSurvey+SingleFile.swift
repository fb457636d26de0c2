extension StoreSurvey {
  /// One segment file by itself: no META, no neighbours.
  ///
  /// - Throws: ``LogError/unsupportedFormat(file:detail:)`` for a file that was never a segment.
  static func ofSegment(
    _ path: String, in fileSystem: any FileSystem, searchesBits: Bool
  ) throws(LogError) -> StoreSurvey {
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    var segment = try SegmentInspection.read(
      path, name: SegmentFileName(name), in: fileSystem, searchesBits: searchesBits)
    segment.role = .active
    if segment.header == nil, let detail = try SingleFile.detail(of: segment, in: fileSystem) {
      throw .unsupportedFormat(file: path, detail: detail)
    }
    return StoreSurvey(alone: segment, path: path, piece: nil, in: fileSystem)
  }

  /// A piece of a segment without the segment's header.
  static func ofPiece(
    _ path: String, salt: UInt64, lsn: LSN, in fileSystem: any FileSystem
  ) throws(LogError) -> StoreSurvey {
    var segment = try SegmentInspection.read(path, name: nil, in: fileSystem, searchesBits: false)
    segment.copies = []
    segment.dirtyPadding = nil
    segment.error = nil
    segment.role = .active
    // Stands in for the header that is not there: offsets in the file count from `lsn`.
    segment.header = SegmentHeader(
      identifier: StoreIdentifier(high: 0, low: 0), ordinal: 1, id: 0, epoch: 0, baseSequence: .zero, baseLSN: lsn,
      salt: salt, predecessor: SegmentHeader.Predecessor(id: 0, byteCount: 0, headTag: 0),
      reset: SegmentHeader.LastReset(sequence: .zero, headTag: 0), createdAt: 0)
    return StoreSurvey(alone: segment, path: path, piece: lsn, in: fileSystem)
  }

  private init(alone segment: SegmentInspection, path: String, piece: LSN?, in fileSystem: any FileSystem) {
    self.init(
      path: path, listing: StoreListing([]),
      root: RootInspection(path: path, byteCount: nil, isFile: true, slots: [], root: nil, error: nil),
      segments: [segment], layers: [], lock: .unknown, chain: nil, chainError: nil,
      directory: StoreDirectory(path: path, fileSystem: fileSystem), piece: piece)
  }
}
