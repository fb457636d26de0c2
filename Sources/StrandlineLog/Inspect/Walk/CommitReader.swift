/// Reads the frames of a commit that ``CommitWalk`` found whole: stored as they are, or decoded.
///
/// Every byte is proved again, since the file may have changed in between.
struct CommitReader: ~Copyable {
  private let segment: SegmentFile
  private var window: FileWindow
  private var decoder = BodyDecoder()

  init(_ segment: SegmentFile, end: Int64) {
    self.segment = segment
    window = FileWindow(fileSystem: segment.fileSystem, file: segment.file, end: end)
  }

  /// Hands over each frame's header and stored payload, in order.
  mutating func readStored(
    _ commit: InspectedCommit, _ body: (FrameHeader, UnsafeRawBufferPointer) throws(LogError) -> Void
  ) throws(LogError) {
    var offset = commit.offset
    while offset < commit.endOffset {
      let (header, stored) = try frame(at: offset)
      try body(header, stored.slice(0, header.storedByteCount))
      offset += Int64(header.frameByteCount)
    }
  }

  /// Hands over the records of each frame, in order.
  mutating func readRecords(
    _ commit: InspectedCommit, _ body: (RecordList) throws -> Void
  ) throws {
    var offset = commit.offset
    while offset < commit.endOffset {
      let (header, stored) = try frame(at: offset)
      let list: (payload: UnsafeRawBufferPointer, records: Range<Int>)
      do throws(FrameBody.Defect) {
        let payload = try decoder.payload(of: header, stored: stored)
        let layout = try FrameBody.layout(
          of: payload, header: header, isFirst: offset == commit.offset, behind: nil)
        list = (payload, layout.records)
      } catch {
        throw changed(at: offset, "\(error)")
      }
      try body(
        RecordList(proved: UnsafeRawBufferPointer(rebasing: list.payload[list.records]), count: header.recordCount))
      offset += Int64(header.frameByteCount)
    }
  }

  private mutating func frame(at offset: Int64) throws(LogError) -> (FrameHeader, UnsafeRawBufferPointer) {
    let lsn = segment.lsn(at: offset)
    let head = try bytes(at: offset, FrameHeader.byteCount)
    let header: FrameHeader
    do throws(FrameHeader.Defect) {
      header = try FrameHeader(decoding: head, salt: segment.header.salt, lsn: lsn)
    } catch {
      throw changed(at: offset, "\(error)")
    }
    let stored = try bytes(
      at: offset + Int64(FrameHeader.byteCount), header.frameByteCount - FrameHeader.byteCount)
    do throws(FrameBody.Defect) {
      try FrameBody.verify(stored, header: header, salt: segment.header.salt, lsn: lsn)
    } catch {
      throw changed(at: offset, "\(error)")
    }
    return (header, stored)
  }

  private mutating func bytes(at offset: Int64, _ byteCount: Int) throws(LogError) -> UnsafeRawBufferPointer {
    do throws(Errno) {
      let bytes = try window.bytes(at: offset, count: byteCount)
      if bytes.count == byteCount { return bytes }
    } catch {
      throw .ioFailed(segment.failure(.read, error))
    }
    throw changed(at: offset, "the end of the file")
  }

  private func changed(at offset: Int64, _ found: String) -> LogError {
    .corrupt(
      CorruptionReport(
        reason: .frameDamaged, file: segment.path, offset: offset, expected: "the frame that was there a moment ago",
        found: found))
  }
}
