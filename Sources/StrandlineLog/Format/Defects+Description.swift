// How defects read in messages: what was expected, what was found. Nobody matches on these words.

extension FrameHeader.Defect: CustomStringConvertible {
  public var description: String {
    switch self {
    case .tooShort(let count): "\(count) bytes, too few for a header"
    case .wrongMagic(0): "zeros instead of a header"
    case .wrongMagic(let found): "no header's magic (\(hexadecimal(UInt64(found)).suffix(8)))"
    case .tagMismatch(let stored, let computed): wrongTag("header", stored, computed)
    case .fieldOutOfRange(let field): "the header's \(field.rawValue) is out of range"
    case .unknownKind(let kind): "a frame of kind \(kind), which this version does not know"
    }
  }
}

extension FrameBody.Defect: CustomStringConvertible {
  public var description: String {
    switch self {
    case .tagMismatch(let stored, let computed): wrongTag("payload", stored, computed)
    case .notDecodable: "the payload cannot be decompressed"
    case .recordsMalformed: "the payload is not made as its kind says"
    }
  }
}

extension RootSlot.Defect: CustomStringConvertible {
  public var description: String {
    switch self {
    case .wrongLength(let count): "\(count) bytes instead of \(RootSlot.byteCount)"
    case .tagMismatch(let stored, let computed): wrongTag("slot", stored, computed)
    case .notARoot: "not a slot of META"
    case .unsupportedMajor(let version): "format version \(version)"
    case .unknownIncompatibleBit(let bit): "feature bit \(bit), which this version does not know"
    case .fieldOutOfRange(let field): "\(field) out of range"
    }
  }
}

extension SegmentHeader.Defect: CustomStringConvertible {
  public var description: String {
    switch self {
    case .tooShort(let count): "\(count) bytes, too few for a segment's header"
    case .tagMismatch(let stored, let computed): wrongTag("segment header", stored, computed)
    case .notASegment: "not a segment"
    case .unsupportedMajor(let version): "format version \(version)"
    case .unknownIncompatibleBit(let bit): "feature bit \(bit), which this version does not know"
    case .fieldOutOfRange(let field): "\(field) out of range"
    }
  }
}

extension ChainState.Break: CustomStringConvertible {
  public var description: String {
    switch self {
    case .previousTag(let expected, let found):
      "it follows a frame with tag \(hexadecimal(found)), not \(hexadecimal(expected))"
    case .sequence(let expected, let found): "it has sequence number \(found), not \(expected)"
    case .epoch(let expected, let found): "it is of epoch \(found), not \(expected)"
    case .unfinishedCommit: "the commit in front of it goes on"
    }
  }
}

extension SegmentScanner.Stop: CustomStringConvertible {
  public var description: String {
    switch self {
    case .endOfFile: "the end of the file"
    case .cutShort(let missing): "a frame that lacks its last \(missing) bytes"
    case .header(let defect): defect.description
    case .chain(let reason): "a frame out of place: \(reason)"
    case .body(let defect): defect.description
    }
  }
}

extension GapPayload.Reason: CustomStringConvertible {
  public var description: String {
    switch self {
    case .damaged: "damaged"
    case .missing: "missing"
    case .incomplete: "incomplete"
    }
  }
}

private func wrongTag(_ what: String, _ stored: UInt64, _ computed: UInt64) -> String {
  "the \(what)'s tag is \(hexadecimal(stored)), its bytes have \(hexadecimal(computed))"
}
