internal import Glibc

/// The segments of a store in order, found by their headers: each names the one in front of it.
@_spi(Engine) public struct SegmentChain: Sendable {
  /// From the first live ordinal to the last.
  public var headers: [SegmentHeader]
  /// META knows the last one; false if a crash came between its birth and META's note of it, or META is an older copy.
  public var lastIsNamedByRoot: Bool
  /// Closed segments with zeros behind their end: space that a crash kept from being given back.
  public var untrimmed: [SegmentHeader] = []
  /// A segment file that was never finished and may be removed.
  public var unfinished: SegmentFileName?
  public var events: [LogEvent]
  /// By ordinal, as the files were found.
  private var byteCounts: [UInt64: Int64] = [:]

  private init() {
    headers = []
    lastIsNamedByRoot = true
    events = []
  }

  /// Reads the headers and checks that they continue each other.
  ///
  /// - Throws: ``LogError/corrupt(_:)`` where a live segment is missing, damaged, foreign, or does not follow the one in front.
  static func read(
    _ listing: StoreListing, root: RootSlot, in directory: StoreDirectory
  ) throws(LogError) -> SegmentChain {
    var chain = SegmentChain()
    if root.lastCreatedOrdinal > 0 {
      try chain.readBackwards(listing, root: root, in: directory)
    }
    try chain.readNewest(listing, root: root, in: directory)
    try chain.checkLengths(in: directory)
    return chain
  }

  /// A closed segment has exactly the length that its successor names; only zeros may follow.
  private mutating func checkLengths(in directory: StoreDirectory) throws(LogError) {
    for (header, next) in zip(headers, headers.dropFirst()) {
      let end = Int64(next.predecessor.byteCount)
      guard let byteCount = byteCounts[header.ordinal], byteCount != end else { continue }
      let path = directory.path(of: header.fileName.description)
      guard byteCount > end else {
        throw .corrupt(
          CorruptionReport(
            reason: .fileTruncated, file: path, offset: byteCount, expected: "\(end) bytes", found: "\(byteCount)"))
      }
      let segment = try SegmentFile(opening: path, header: header, in: directory.fileSystem)
      var facts = TailFacts()
      facts.isClosed = true
      facts.isZeroBehind = try segment.isZero(from: end, to: byteCount)
      facts.differsFromSuccessor = !facts.isZeroBehind
      guard TailVerdict(facts) == .cleanEnd else {
        throw .corrupt(
          CorruptionReport(
            reason: .closedSegmentDamaged, file: path, offset: end, expected: "the end of the segment, or zeros",
            found: "other bytes"))
      }
      untrimmed.append(header)
    }
  }

  /// From the segment that META names back to the first live one.
  private mutating func readBackwards(
    _ listing: StoreListing, root: RootSlot, in directory: StoreDirectory
  ) throws(LogError) {
    let names = Set(listing.segments)
    var found: [SegmentHeader] = []
    var name = SegmentFileName(ordinal: root.lastCreatedOrdinal, id: root.lastCreatedID)
    while true {
      guard names.contains(name) else {
        throw Self.missing(name, in: directory)
      }
      let header = try header(of: name, root: root, in: directory)
      if let successor = found.last {
        try Self.check(header, precedes: successor, in: directory)
      }
      found.append(header)
      if name.ordinal == root.firstLiveOrdinal { break }
      guard header.predecessor.id != 0 else {
        throw Self.missing(SegmentFileName(ordinal: name.ordinal - 1, id: 0), in: directory)
      }
      name = SegmentFileName(ordinal: name.ordinal - 1, id: header.predecessor.id)
    }
    headers = found.reversed()
  }

  /// Segments that META does not name yet: one if a crash came right after its birth, more if META is an older copy of itself. They count
  /// if they continue the chain.
  private mutating func readNewest(
    _ listing: StoreListing, root: RootSlot, in directory: StoreDirectory
  ) throws(LogError) {
    let newest = listing.segments.filter { $0.ordinal > root.lastCreatedOrdinal }
    for name in newest {
      let expected = (headers.last?.ordinal ?? 0) + 1
      let isHighest = name.ordinal == newest.last?.ordinal
      switch try reading(of: name, root: root, in: directory) {
      case .nothingReadable(let found, let isSingleBit):
        var facts = TailFacts()
        facts.isMissingOrHeaderless = true
        facts.isNewest = isHighest && name.ordinal == expected
        guard TailVerdict(facts) == .unfinishedCreation, unfinished == nil else {
          throw Self.damaged(directory.path(of: name.description), found, isSingleBit: isSingleBit)
        }
        unfinished = name
      case .header(let header):
        if name.ordinal > expected {
          throw Self.missing(SegmentFileName(ordinal: expected, id: header.predecessor.id), in: directory)
        }
        guard name.ordinal == expected else {
          throw .corrupt(
            CorruptionReport(
              reason: .chainBroken, file: directory.path(of: name.description), offset: 0,
              expected: "one segment with ordinal \(name.ordinal)", found: "two"))
        }
        if let last = headers.last { try Self.check(last, precedes: header, in: directory) }
        headers.append(header)
        lastIsNamedByRoot = false
      }
    }
  }

  private static func missing(_ name: SegmentFileName, in directory: StoreDirectory) -> LogError {
    .corrupt(
      CorruptionReport(
        reason: .segmentMissing, file: directory.path(of: name.description), expected: "segment \(name.ordinal)",
        found: "no such file"))
  }

  private static func check(
    _ header: SegmentHeader, precedes next: SegmentHeader, in directory: StoreDirectory
  ) throws(LogError) {
    let end = header.baseLSN.rawValue.addingReportingOverflow(next.predecessor.byteCount)
    let fits =
      next.predecessor.id == header.id && next.ordinal == header.ordinal + 1 && !end.overflow
      && end.partialValue == next.baseLSN.rawValue && header.baseSequence <= next.baseSequence
      && header.epoch <= next.epoch
      && next.predecessor.byteCount >= UInt64(SegmentHeader.blockByteCount)
    guard fits else {
      throw .corrupt(
        CorruptionReport(
          reason: .chainBroken, file: directory.path(of: next.fileName.description), offset: 0,
          expected: "to follow segment \(header.ordinal) with id \(hexadecimal(header.id)) at LSN \(header.baseLSN)",
          found:
            "follows id \(hexadecimal(next.predecessor.id)), LSN \(next.baseLSN) after \(next.predecessor.byteCount) bytes"
        ))
    }
  }

  private mutating func header(
    of name: SegmentFileName, root: RootSlot, in directory: StoreDirectory
  ) throws(LogError) -> SegmentHeader {
    switch try reading(of: name, root: root, in: directory) {
    case .header(let header): return header
    case .nothingReadable(let found, let isSingleBit):
      throw Self.damaged(directory.path(of: name.description), found, isSingleBit: isSingleBit)
    }
  }

  private enum Reading {
    case header(SegmentHeader)
    /// Neither copy verifies: the file may never have been finished.
    case nothingReadable(String, isSingleBit: Bool)
  }

  /// Reads the header of one segment file and checks that it is the one its name says, of this store.
  private mutating func reading(
    of name: SegmentFileName, root: RootSlot, in directory: StoreDirectory
  ) throws(LogError) -> Reading {
    let path = directory.path(of: name.description)
    let fileSystem = directory.fileSystem
    let block: [UInt8]
    do throws(Errno) {
      let file = try fileSystem.openRetrying(path, .read)
      defer { fileSystem.closeQuietly(file) }
      let status = try fileSystem.status(file)
      guard status.kind == .file else { throw Errno(ELOOP) }
      byteCounts[name.ordinal] = status.byteCount
      block = try fileSystem.readBytes(file, at: 0, byteCount: SegmentHeader.blockByteCount)
    } catch {
      // A directory, link or device in the file's place is not a segment; everything else is the system's refusal.
      guard error.meansNoRegularFile else {
        throw .ioFailed(IOFailure(operation: .open, path: path, errno: error))
      }
      throw .corrupt(
        CorruptionReport(reason: .notAFile, file: path, expected: "a segment file", found: "no regular file"))
    }
    let header: SegmentHeader
    do throws(SegmentHeader.Defect) {
      header = try block.span.bytes.withUnsafeBytes { (bytes) throws(SegmentHeader.Defect) in
        try SegmentHeader(decodingBlock: bytes)
      }
    } catch {
      switch error {
      case .unsupportedMajor(let found):
        throw .unsupportedFormat(file: path, detail: .majorVersion(found: found, supported: FormatVersion.major))
      case .unknownIncompatibleBit(let bit): throw .unsupportedFormat(file: path, detail: .featureBit(bit))
      case .tooShort, .tagMismatch:
        return .nothingReadable("\(error)", isSingleBit: SingleBit.explains(headerBlock: block))
      case .notASegment, .fieldOutOfRange: throw Self.damaged(path, "\(error)")
      }
    }
    guard header.fileName == name else { throw Self.damaged(path, "the header of \(header.fileName)") }
    guard header.identifier == root.identifier else {
      throw Self.damaged(path, "a segment of store \(header.identifier)")
    }
    let isWhole = block.withUnsafeBytes { bytes in
      SegmentHeader.copyOffsets.allSatisfy { (try? SegmentHeader(decoding: bytes, at: $0)) == header }
    }
    if !isWhole { events.append(.headerCopyDamaged(file: path)) }
    return .header(header)
  }

  private static func damaged(_ path: String, _ found: String, isSingleBit: Bool? = nil) -> LogError {
    .corrupt(
      CorruptionReport(
        reason: .segmentHeaderDamaged, file: path, offset: 0, expected: "the header of this segment", found: found,
        isSingleBit: isSingleBit))
  }
}
