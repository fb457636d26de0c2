extension ChainState {
  /// At the first byte of a piece of a segment, where nothing is known of what came before.
  init(startOfPiece header: SegmentHeader) {
    self.init(startOf: header)
    // Frames begin on 8-byte boundaries of the segment, wherever the piece was cut.
    lsn = LSN((header.baseLSN.rawValue &+ 7) & ~7)
    commitStart = lsn
  }

  /// In front of a frame whose header proves itself, as if the frames before it had been what it says they were.
  ///
  /// Nil if no history could lead up to the frame.
  ///
  /// - Parameter known: the last state that was proved; it tells the upper half of the epoch.
  init?(resumingAt header: FrameHeader, lsn: LSN, behind known: ChainState) {
    self = known
    self.lsn = lsn
    commitStart = lsn
    tag = header.previousTag
    isInsideCommit = false
    let upper = known.epoch & ~0xFFFF_FFFF
    epoch = upper | UInt64(header.epoch)
    // Epochs only rise; a lower half that is smaller has gone round.
    if epoch < known.epoch { epoch &+= 1 << 32 }
    switch header.kind {
    case .data:
      guard header.sequence > .zero else { return nil }
      // Takes the frame for a later one of its commit, which holds for a first one as well.
      isInsideCommit = true
      sequence = header.sequence
    case .reset:
      guard header.sequence > .zero, epoch > 0 else { return nil }
      epoch -= 1
      sequence = SequenceNumber(header.sequence.rawValue - 1)
    case .gap:
      guard header.sequence > .zero else { return nil }
      sequence = SequenceNumber(header.sequence.rawValue - 1)
    default:
      sequence = header.sequence
    }
  }
}
