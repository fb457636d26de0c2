/// Bytes of a segment at a position of the log.
@_spi(Engine) public struct BytesAtLSN: Hashable, Sendable {
  public var segment: SegmentInspection
  public var lsn: LSN
  /// In the file.
  public var offset: Int64
  public var bytes: [UInt8]
  /// The frame that begins there, if its header proves itself.
  public var frame: FrameHeader?
  /// Why none does; nil inside the segment's header block.
  public var defect: FrameHeader.Defect?
}

extension StoreInspector {
  /// Reads at a position: `byteCount` bytes, or as many as the frame that begins there has, or 256.
  ///
  /// - Returns: nil if no segment holds the position.
  public func bytes(at lsn: LSN, byteCount: Int?, in survey: StoreSurvey) throws(LogError) -> BytesAtLSN? {
    let candidates = survey.segments.filter { segment in
      guard let header = segment.header, header.baseLSN <= lsn else { return false }
      return Int64(clamping: lsn.rawValue - header.baseLSN.rawValue) < segment.byteCount
    }
    // A segment of the chain rather than a stray one; the later of two, as the earlier may have space behind its end.
    guard let inspection = candidates.last(where: { $0.role == .active || $0.role == .closed }) ?? candidates.last,
      let header = inspection.header
    else { return nil }
    let segment = try SegmentFile(inspecting: inspection.path, header: header, in: environment.fileSystem)
    let offset = segment.offset(of: lsn)
    func read(_ count: Int) throws(LogError) -> [UInt8] {
      do throws(Errno) {
        return try environment.fileSystem.readBytes(segment.file, at: offset, byteCount: count)
      } catch {
        throw .ioFailed(segment.failure(.read, error))
      }
    }
    var result = BytesAtLSN(segment: inspection, lsn: lsn, offset: offset, bytes: [], frame: nil, defect: nil)
    let isInHeader = survey.piece == nil && offset < Int64(SegmentHeader.blockByteCount)
    if !isInHeader {
      let head = try read(FrameHeader.byteCount)
      do throws(FrameHeader.Defect) {
        result.frame = try head.span.bytes.withUnsafeBytes { (bytes) throws(FrameHeader.Defect) in
          try FrameHeader(decoding: bytes, salt: header.salt, lsn: lsn)
        }
      } catch {
        result.defect = error
      }
    }
    let wanted =
      byteCount ?? (isInHeader ? SegmentHeader.blockByteCount - Int(offset) : result.frame?.frameByteCount ?? 256)
    result.bytes = try read(Int(min(Int64(wanted), inspection.byteCount - offset)))
    return result
  }
}
