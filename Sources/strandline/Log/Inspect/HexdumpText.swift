@_spi(Engine) import StrandlineLog

/// What the first bytes of a dump mean.
enum HexdumpText {
  static func explanation(of found: BytesAtLSN) -> [String] {
    if let frame = found.frame { return header(frame, found) }
    if let defect = found.defect { return ["  no frame begins here: \(defect)"] }
    return segmentHeader(found)
  }

  private static func header(_ frame: FrameHeader, _ found: BytesAtLSN) -> [String] {
    let headTag = found.bytes.count >= FrameHeader.byteCount ? Hexadecimal.text(found.bytes[56..<64].reversed()) : "?"
    let fields: [(Int, Int, String, String)] = [
      (0, 4, "magic", ""),
      (4, 1, "kind", "\(frame.kind)"),
      (5, 1, "codec", frame.codec == .lz4 ? "LZ4" : "raw"),
      (6, 2, "flags", frame.continues ? "the commit goes on in the next frame" : "none"),
      (8, 4, "storedLen", "\(frame.storedByteCount)"),
      (12, 4, "rawLen", "\(frame.rawByteCount)"),
      (16, 8, "sequence", "\(frame.sequence)"),
      (24, 4, "count", HumanUnits.number(frame.recordCount, of: "record")),
      (28, 4, "epoch", "\(frame.epoch)"),
      (32, 8, "durable", "LSN \(frame.durable)"),
      (40, 8, "prevTag", hexadecimal(frame.previousTag)),
      (48, 8, "bodyTag", hexadecimal(frame.bodyTag)),
      (56, 8, "headTag", "\(headTag), matches"),
      (64, frame.storedByteCount, "payload", ""),
      (64 + frame.storedByteCount, frame.frameByteCount - 64 - frame.storedByteCount, "padding", ""),
    ]
    return fields.filter { $0.1 > 0 }.map { line($0.0, $0.1, $0.2, $0.3) }
  }

  private static func segmentHeader(_ found: BytesAtLSN) -> [String] {
    let copies = found.segment.copies.map { copy in
      let state = copy.defect.map { "\($0)" } ?? "whole"
      return "  header copy at byte \(copy.offset): \(state)"
    }
    guard let header = found.segment.header else { return copies }
    let fields: [(Int, Int, String, String)] = [
      (0, 8, "magic", ""), (8, 4, "version", "1.0"), (16, 8, "incompat", "\(header.incompatibleBits)"),
      (24, 16, "store", "\(header.identifier)"), (40, 8, "ordinal", "\(header.ordinal)"),
      (48, 8, "id", hexadecimal(header.id)), (56, 8, "epoch", "\(header.epoch)"),
      (64, 8, "baseSeq", "\(header.baseSequence)"), (72, 8, "baseLSN", "\(header.baseLSN)"),
      (80, 8, "salt", hexadecimal(header.salt)), (88, 8, "predId", hexadecimal(header.predecessor.id)),
      (96, 8, "predLength", "\(header.predecessor.byteCount)"),
      (104, 8, "predTag", hexadecimal(header.predecessor.headTag)),
      (112, 8, "resetSeq", "\(header.reset.sequence)"), (120, 8, "resetTag", hexadecimal(header.reset.headTag)),
      (128, 8, "createdAt", UTCTime.text(milliseconds: header.createdAt)), (136, 16, "zero", ""),
      (152, 8, "headerTag", ""),
    ]
    return copies + fields.map { line($0.0, $0.1, $0.2, $0.3) }
  }

  private static func line(_ offset: Int, _ length: Int, _ name: String, _ meaning: String) -> String {
    let place = TextTable.padded("\(offset)", to: 6, .right) + TextTable.padded("+\(length)", to: 8, .left)
    let text = "\(place) \(TextTable.padded(name, to: 10, .left)) \(meaning)"
    return text.last == " " ? String(text.reversed().drop { $0 == " " }.reversed()) : text
  }
}
