@_spi(Engine) import StrandlineLog

/// The tail's verdict as lines and as JSON.
enum TailText {
  /// The log ends inside a commit.
  private static func isUnfinished(_ tail: TailInspection) -> Bool {
    tail.evidence.commitEnd != tail.evidence.verifiedEnd
  }

  /// - Parameter anchor: from where an open replays; layers hold what stands in front of it.
  static func lines(_ tail: TailInspection, anchor: LSN) -> [String] {
    let evidence = tail.evidence
    func place(_ lsn: LSN) -> String { "LSN \(lsn), byte \(tail.offset(of: lsn))" }
    var lines = [
      TerminalText.escaped(tail.path),
      "  verdict    \(verdict(tail))",
      "  X          \(place(evidence.verifiedEnd)): \(evidence.stop)",
      "  U          \(place(evidence.commitEnd))",
    ]
    if evidence.promise.source == .none {
      lines.append("  F          none: nothing says that a sync had covered anything")
    } else {
      lines.append("  F          \(place(evidence.promise.lsn)): \(source(evidence.promise.source))")
    }
    lines += [
      "  last       commit \(evidence.state.completeSequence), epoch \(evidence.state.epoch), tag \(hexadecimal(evidence.state.tag))",
      "  behind X   \(behind(evidence, tail))",
      "  file       \(evidence.fileByteCount) bytes, \(HumanUnits.number(evidence.frameCount, of: "frame"))",
    ]
    if let refusal = tail.refusal {
      lines.append("  open       refuses: \(TerminalText.escaped(refusal.description))")
    } else if let damage = tail.damage {
      lines.append(
        evidence.verifiedEnd < anchor
          ? "  open       does not read there: X lies in front of the anchor (LSN \(anchor)), and layers hold what stood there"
          : "  open       refuses, once it replays that: \(TerminalText.escaped(damage.description))")
    }
    return lines
  }

  private static func behind(_ evidence: TailEvidence, _ tail: TailInspection) -> String {
    let count = evidence.fileByteCount - tail.verifiedEndOffset
    if count <= 0 { return "nothing" }
    if evidence.isZeroBehind { return "\(count) bytes, all zero" }
    let frames = evidence.laterFrameCount
    let highest = frames > 0 ? ", the highest commit number in them \(evidence.laterSequenceMax)" : ""
    let verified =
      "\(HumanUnits.number(frames, of: "frame header")) among them \(frames == 1 ? "verifies" : "verify")\(highest)"
    let stray = evidence.contentEnd - tail.verifiedEndOffset
    if stray == count { return "\(HumanUnits.number(count, of: "byte")); \(verified)" }
    return "\(HumanUnits.number(stray, of: "byte")), then \(count - stray) of zeros; \(verified)"
  }

  private static func verdict(_ tail: TailInspection) -> String {
    let cut = tail.evidence.contentEnd - tail.commitEndOffset
    switch tail.verdict {
    case .corrupt(let rule): return "CORRUPT (rule \(rule)): \(reason(rule))"
    case .torn where tail.isInFlight, .cleanEnd where tail.isInFlight:
      return "in flight (rule \(rule(tail.verdict))): a writer has the store open; what follows U is on its way"
    case .torn:
      return
        "torn (rule 9): \(HumanUnits.number(cut, of: "byte")) behind U, never confirmed; the next writable open cuts them"
    case .cleanEnd where isUnfinished(tail):
      return "clean end (rule 8), cut at U: the last commit has no end and was never confirmed"
    case .cleanEnd: return "clean end (rule 8)"
    case .unfinishedCreation: return "unfinished creation (rule 4)"
    case .readFailed: return "not known (rule 1): a read failed"
    }
  }

  private static func rule(_ verdict: TailVerdict) -> Int {
    switch verdict {
    case .readFailed: 1
    case .corrupt(let rule): rule
    case .unfinishedCreation: 4
    case .cleanEnd: 8
    case .torn: 9
    }
  }

  private static func reason(_ rule: Int) -> String {
    switch rule {
    case 2: "the segment does not end where its successor says"
    case 3: "META names a segment that is missing or has no header"
    case 5: "META is ahead of the log: older log than root"
    case 6: "bytes that a sync had confirmed are damaged"
    case 7: "the store was closed cleanly with another last frame"
    default: "the segment is damaged"
    }
  }

  private static func source(_ source: TailEvidence.Promise.Source) -> String {
    switch source {
    case .none: "nothing"
    case .frame: "a frame in front of X says so"
    case .laterFrame: "a frame behind X says so"
    case .durableMark: "META's durable mark"
    case .anchor: "META's anchor"
    }
  }

  static func write(_ tail: TailInspection, anchor: LSN, to json: inout JSONWriter) {
    let evidence = tail.evidence
    json.object { json in
      json.schemaField()
      json.field("file", tail.path)
      json.field("verdict", verdictCode(tail))
      json.field("rule", rule(tail.verdict))
      json.field("inFlight", tail.isInFlight)
      json.field("verifiedEnd", evidence.verifiedEnd.rawValue)
      json.field("verifiedEndOffset", tail.verifiedEndOffset)
      json.field("commitEnd", evidence.commitEnd.rawValue)
      json.field("commitEndOffset", tail.commitEndOffset)
      json.field("promise", evidence.promise.lsn.rawValue)
      json.field("promiseOffset", tail.offset(of: evidence.promise.lsn))
      json.field("promiseSource", evidence.promise.source.rawValue)
      json.field("stop", "\(evidence.stop)")
      json.field("lastSequence", evidence.state.completeSequence.rawValue)
      json.field("epoch", evidence.state.epoch)
      json.field("lastTag", tag: evidence.state.tag)
      json.field("fileByteCount", evidence.fileByteCount)
      json.field("contentEndOffset", evidence.contentEnd)
      json.field("frames", evidence.frameCount)
      json.field("laterFrames", evidence.laterFrameCount)
      json.field("laterSequenceMax", evidence.laterSequenceMax.rawValue)
      json.field("zeroBehind", evidence.isZeroBehind)
      json.field("refusal", tail.refusal?.description)
      json.field("damage", tail.damage?.description)
      json.field("anchor", anchor.rawValue)
    }
  }

  private static func verdictCode(_ tail: TailInspection) -> String {
    switch tail.verdict {
    case .readFailed: "readFailed"
    case .corrupt: "corrupt"
    case .unfinishedCreation: "unfinishedCreation"
    case .cleanEnd: "cleanEnd"
    case .torn: "torn"
    }
  }
}
