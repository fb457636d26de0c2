/// What everybody may see of the log: written by the holder of the lane, read by anyone.
struct Published {
  var epoch: UInt64
  var last: Position
  var durable: Position
  /// A sync has covered everything in front of this.
  var durableLSN: LSN
  var root: RootSlot
  /// Segments from the first live one to the one that is written to.
  var segments: [SegmentHeader]
  var resetSequence: SequenceNumber
  var poison: IOFailure?
  var bufferedCommitCount = 0
  var isClosed = false
  var counters = LogStatus.Counters()
  /// Readers that wait for something newer than they have.
  var waiting: [UInt64: UnsafeContinuation<Void, Never>] = [:]
  /// Ordinals in front of which files may not be removed, one for each copy that is being made.
  var pins: [UInt64: UInt64] = [:]
  /// Files whose removal a pin has put off.
  var heldBack: [String] = []
  var nextToken: UInt64 = 1

  mutating func token() -> UInt64 {
    nextToken += 1
    return nextToken
  }
}
