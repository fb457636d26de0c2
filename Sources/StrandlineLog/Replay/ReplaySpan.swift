/// A stretch of one segment that is to be replayed: from a frame boundary to exactly another.
struct ReplaySpan: Sendable {
  var header: SegmentHeader
  var path: String
  /// Frames end here.
  var end: LSN
  /// A closed segment ends with this tag; nil for the last one.
  var endTag: UInt64?
}
