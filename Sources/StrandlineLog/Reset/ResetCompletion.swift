/// The steps of a reset after its commit point: what META says of it.
enum ResetCompletion {
  /// Makes `slot` the root of the epoch that a RESET began. `before` is the chain right in front of the RESET, where replay
  /// begins.
  static func apply(
    to slot: inout RootSlot, payload: ResetPayload, resetSequence: SequenceNumber, ordinal: UInt64, before: ChainState
  ) {
    slot.epoch = payload.epoch
    slot.resetSequence = resetSequence
    slot.layers = payload.base
    slot.firstLiveOrdinal = ordinal
    slot.anchor = RootSlot.Anchor(ordinal: ordinal, lsn: before.lsn, headTag: before.tag, sequence: before.sequence)
    slot.closedCleanly = false
    slot.tailTag = 0
  }

  /// The chain in front of the frame at `lsn`.
  static func state(before lsn: LSN, in segment: SegmentFile) throws(LogError) -> ChainState {
    var scanner = SegmentScanner(segment, from: ChainState(startOf: segment.header), end: segment.offset(of: lsn))
    do throws(Errno) {
      while scanner.state.lsn < lsn, case .frame = try scanner.next(provingBody: false) {}
    } catch {
      throw .ioFailed(segment.failure(.read, error))
    }
    return scanner.state
  }
}
