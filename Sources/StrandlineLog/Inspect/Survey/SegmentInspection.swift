/// One segment file of a store, by its name and its header.
@_spi(Engine) public struct SegmentInspection: Hashable, Sendable {
  public var path: String
  /// What the name says; nil for a file that is not named like a segment.
  public var name: SegmentFileName?
  public var kind: FileStatus.Kind
  public var byteCount: Int64
  /// Both copies of the header.
  public var copies: [Copy]
  /// The first byte of the header block behind and between the copies that is not zero, as all were written.
  public var dirtyPadding: Int?
  /// The header that counts: the first whole copy.
  public var header: SegmentHeader?
  /// Why none does, as open would say it.
  public var error: LogError?
  public var role = Role.stray
  /// Where the segment must end and with which tag; nil unless another segment follows it.
  public var named: SegmentHeader.Predecessor?

  @_spi(Engine) public struct Copy: Hashable, Sendable {
    public var offset: Int
    public var header: SegmentHeader?
    public var defect: SegmentHeader.Defect?
    /// The bit that explains the defect, byte counted from the start of the file.
    public var singleBit: SingleBit?
  }

  @_spi(Engine) public enum Role: String, Hashable, Sendable {
    /// Part of the chain, with a successor.
    case closed
    /// The last of the chain.
    case active
    /// In front of the first live segment: a reset or release has given it up.
    case released
    /// Newest, without a header: never finished.
    case unfinished
    /// Not part of the chain.
    case stray
  }

  /// Reads the header block of the file at `path`.
  ///
  /// - Throws: ``LogError/generationGone`` if the file is not there any more, ``LogError/ioFailed(_:)``.
  static func read(
    _ path: String, name: SegmentFileName?, in fileSystem: any FileSystem, searchesBits: Bool
  ) throws(LogError) -> SegmentInspection {
    var result = SegmentInspection(
      path: path, name: name, kind: .file, byteCount: 0, copies: [], dirtyPadding: nil, header: nil, error: nil)
    let block: [UInt8]
    do throws(Errno) {
      let status = try fileSystem.status(at: path)
      result.kind = status.kind
      result.byteCount = status.byteCount
      guard status.kind == .file else {
        result.error = .corrupt(
          CorruptionReport(
            reason: .notAFile, file: path, expected: "a segment file",
            found: status.kind == .directory ? "a directory" : "no regular file"))
        return result
      }
      let file = try fileSystem.openRetrying(path, .read)
      defer { fileSystem.closeQuietly(file) }
      block = try fileSystem.readBytes(file, at: 0, byteCount: SegmentHeader.blockByteCount)
    } catch {
      throw SegmentFile.vanishedOrFailed(.open, path, error)
    }
    block.withUnsafeBytes { result.takeBlock($0, searchesBits: searchesBits) }
    return result
  }

  private mutating func takeBlock(_ block: UnsafeRawBufferPointer, searchesBits: Bool) {
    for offset in SegmentHeader.copyOffsets {
      var copy = Copy(offset: offset, header: nil, defect: nil, singleBit: nil)
      do throws(SegmentHeader.Defect) {
        copy.header = try SegmentHeader(decoding: block, at: offset)
      } catch {
        copy.defect = error
        if searchesBits, case .tagMismatch = error,
          var bit = SingleBit.explaining(headerCopy: block.slice(offset, SegmentHeader.encodedByteCount))
        {
          bit.byte += offset
          copy.singleBit = bit
        }
      }
      copies.append(copy)
    }
    header = copies.lazy.compactMap(\.header).first
    dirtyPadding = Self.paddingRanges.lazy.joined().first { $0 < block.count && block.u8($0) != 0 }
    if header == nil { error = Self.error(of: copies[0].defect, path: path) }
  }

  /// What the header block holds besides the copies.
  static let paddingRanges = [
    SegmentHeader.encodedByteCount..<SegmentHeader.copyOffsets[1],
    SegmentHeader.copyOffsets[1] + SegmentHeader.encodedByteCount..<SegmentHeader.blockByteCount,
  ]

  private static func error(of defect: SegmentHeader.Defect?, path: String) -> LogError? {
    switch defect {
    case nil: nil
    case .unsupportedMajor(let found):
      .unsupportedFormat(file: path, detail: .majorVersion(found: found, supported: FormatVersion.major))
    case .unknownIncompatibleBit(let bit): .unsupportedFormat(file: path, detail: .featureBit(bit))
    case .tooShort(let count)?:
      .corrupt(
        CorruptionReport(
          reason: .segmentHeaderDamaged, file: path, offset: 0,
          expected: "a header of \(SegmentHeader.blockByteCount) bytes", found: "\(count) bytes"))
    case .tagMismatch(let stored, let computed)?:
      .corrupt(
        CorruptionReport(
          reason: .segmentHeaderDamaged, file: path, offset: 0, expected: "tag \(hexadecimal(stored))",
          found: "bytes with tag \(hexadecimal(computed)), in both copies"))
    case .notASegment?:
      .unsupportedFormat(file: path, detail: .notAStore)
    case .fieldOutOfRange(let field)?:
      .corrupt(
        CorruptionReport(
          reason: .segmentHeaderDamaged, file: path, offset: 0, expected: "\(field) in range", found: "out of range"))
    }
  }
}

extension SegmentFile {
  /// Opens a segment beside a writer that may remove it at any moment.
  convenience init(inspecting path: String, header: SegmentHeader, in fileSystem: any FileSystem) throws(LogError) {
    do throws(Errno) {
      let file = try fileSystem.openRetrying(path, .read)
      self.init(fileSystem: fileSystem, file: file, path: path, header: header)
    } catch {
      throw Self.vanishedOrFailed(.open, path, error)
    }
  }

  /// A file that was there a moment ago: a reset or release beside us has removed it, and the root has changed.
  static func vanishedOrFailed(_ operation: IOFailure.Operation, _ path: String, _ errno: Errno) -> LogError {
    errno == .noSuchFile ? .generationGone : .ioFailed(IOFailure(operation: operation, path: path, errno: errno))
  }
}
