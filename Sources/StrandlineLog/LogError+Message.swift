extension LogError: CustomStringConvertible {
  /// What, where, what next. Nobody matches on it; it may change in any release.
  public var description: String {
    switch self {
    case .noStore(let path):
      "\(path): no store here. Nothing was made."
    case .locked(let path, let owner):
      if let owner {
        "\(path): in use by process \(owner.processID) on \(owner.host). Close it there, or open read-only."
      } else {
        "\(path): in use by another opener. Close it there, or open read-only."
      }
    case .corrupt(let report):
      "\(report). Nothing was changed. `strandline log verify` lists all damage; "
        + "`strandline log salvage STORE --to NEW` copies what verifies."
    case .unsupportedFormat(let file, let detail) where detail.isForeign:
      "\(file): \(detail). Nothing was changed."
    case .unsupportedFormat(let file, let detail):
      "\(file): \(detail). Nothing was changed. Use the version that wrote it, or a newer one."
    case .readOnly:
      "The log is open read-only. Open it for writing first."
    case .limitExceeded(let limit):
      "\(limit.name.rawValue) is \(limit.value), at most \(limit.maximum) is allowed. Nothing was written."
    case .outOfSpace(let failure):
      "\(failure). What was acknowledged stays. Free some space and try again."
    case .poisoned(let first, let buffered):
      "\(first). Its outcome is unknown, \(buffered) buffered commits are in doubt, and no more is written. "
        + "Close the log and open it again."
    case .ioFailed(let failure):
      "\(failure). Nothing was changed."
    case .closed:
      "The log is closed. Open it again."
    case .wrongProcess:
      "The log belongs to the parent process. Open it again in this one."
    case .historyTrimmed(let first):
      "The history up to the position was released; the oldest commit kept is \(first). Start from a full read."
    case .resetSince(let epoch):
      "The log was reset since the position was taken (epoch \(epoch) now). Start from a full read."
    case .historyForked(let sequence):
      "Commit \(sequence) is not the one the position names: the log was put back to another copy. Start from a full read."
    case .generationGone:
      "Files were removed by a reset or release in another process. Open again."
    case .targetExists(let path):
      "\(path): exists already. Nothing was written; name a new place."
    case .copyUnconfirmed(let path, let failure):
      "\(path): stands whole, but \(failure): a power cut may still take it. Sync the file system, or make the copy again."
    case .invalidOption(let name, let reason):
      "Option \(name): \(reason)."
    case .epochEnded(let epoch):
      "Epoch \(epoch) was ended by a reset; the layers made from it were not taken."
    case .outOfTurn(let expected, let next):
      "A commit was to get number \(expected), and \(next) is next: one in front of it failed. Nothing of it was written."
    case .replayRefused(let sequence, let reason):
      "Commit \(sequence) cannot be replayed: \(reason). Nothing was changed."
    }
  }
}

extension LogError.FormatDetail: CustomStringConvertible {
  public var description: String {
    switch self {
    case .majorVersion(let found, let supported): "format version \(found), this is version \(supported)"
    case .featureBit(let bit): "uses feature bit \(bit), which this version does not know"
    case .readOnlyFeatureBit(let bit): "uses feature bit \(bit), with which this version can only read"
    case .frameKind(let kind, let offset): "frame kind \(kind) at byte \(offset), which this version does not know"
    case .notAStore: "not a file of a Strandline store"
    case .partOfStore: "a file of a Strandline store that says nothing by itself; name the directory of the store"
    case .brokenLink: "a symbolic link that leads nowhere"
    case .withoutTables:
      "a log without tables, whose records are an application's own or lines of `strandline log append`; "
        + "`strandline log events` prints them, `reset` and `backup` of `strandline` work on it"
    }
  }

  /// Of a file where a directory was wanted, by its name: a file of a store leads to the directory.
  static func ofFile(at path: String) -> LogError.FormatDetail {
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    let isPart =
      name == RootSlot.fileName || name == LockFile.name || SegmentFileName(name) != nil || LayerFileName(name) != nil
    return isPart ? .partOfStore : .notAStore
  }

  /// Not of another version: of another kind.
  @_spi(Engine) public var isForeign: Bool {
    switch self {
    case .notAStore, .partOfStore, .brokenLink, .withoutTables: true
    case .majorVersion, .featureBit, .readOnlyFeatureBit, .frameKind: false
    }
  }
}

extension CorruptionReport: CustomStringConvertible {
  public var description: String {
    var text = offset.map { "\(file): byte \($0): " } ?? "\(file): "
    text += "\(reason.words): expected \(expected), found \(found)"
    if isSingleBit == true { text += "; one flipped bit explains it" }
    if let laterFrameCount, laterFrameCount > 0 { text += "; \(laterFrameCount) later frames verify" }
    return text
  }
}

extension CorruptionReport.Reason {
  /// For people.
  @_spi(Engine) public var words: String {
    switch self {
    case .rootDamaged: "META is damaged"
    case .rootMissing: "META is missing"
    case .notAFile: "something else stands in the place of the file"
    case .logOlderThanRoot: "the log is older than META"
    case .segmentMissing: "a segment is missing"
    case .segmentHeaderDamaged: "the segment's header is damaged"
    case .chainBroken: "the segment does not follow the one in front of it"
    case .closedSegmentDamaged: "a closed segment is damaged"
    case .fileTruncated: "the file was cut short"
    case .frameDamaged: "a confirmed frame is damaged"
    case .tailLost: "frames of a cleanly closed store are missing"
    case .anchorMismatch: "the anchor is not in the log"
    case .layerDamaged: "a layer is damaged"
    }
  }
}
