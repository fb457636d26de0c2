@_spi(Engine) internal import StrandlineLog

/// Events of one stream in order, read as they are asked for.
public struct EventSequence: Sequence {
  let snapshot: Snapshot
  let stream: String
  let first: UInt64

  public func makeIterator() -> Iterator {
    let lower = StreamEvent.key(stream, version: first)
    var upper = StreamEvent.keyStart(stream)
    // The name ends with 00 00; nothing sorts between it and 00 01 but its own events.
    upper[upper.count - 1] = 1
    let range = KeyRange(lower: lower, upper: StoreKey(lower.prefix, upper))
    return Iterator(cursor: snapshot.state.stack.visible(in: range, at: snapshot.sequence))
  }

  public struct Iterator: IteratorProtocol {
    let cursor: VisibleCursor

    /// The next event, or what went wrong in reading it; after a failure the sequence ends.
    public mutating func next() -> Result<StreamEvent, StoreError>? {
      do throws(StoreError) {
        guard let version = try cursor.next(), let value = version.value else { return nil }
        return .success(
          try StreamEvent(key: version.key.bytes, value, position: SequenceNumber(version.sequence)))
      } catch {
        return .failure(error)
      }
    }
  }
}

extension ReadView {
  /// The events of a stream from a version on.
  public func events(of stream: String, from version: UInt64 = 1) -> EventSequence {
    EventSequence(snapshot: snapshot, stream: stream, first: version)
  }

  /// The version of the newest event of a stream; zero if it has none.
  public func version(of stream: String) throws(StoreError) -> UInt64 {
    var buffer = ValueBuffer()
    return try StreamHead.read(stream, snapshot.state.stack, at: snapshot.sequence, &buffer)
  }
}
