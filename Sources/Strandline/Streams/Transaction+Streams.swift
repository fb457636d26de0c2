@_spi(Engine) public import StrandlineLog

/// What the writer of an event expects its stream to be like.
public enum StreamExpectation: Hashable, Sendable {
  case any
  /// The stream has no event yet.
  case new
  /// Its newest event has this version.
  case version(UInt64)
}

extension Transaction {
  /// Appends one event to a stream, which begins with its first event.
  ///
  /// - Parameters:
  ///   - type: the application's name for the kind of event; may be empty.
  ///   - stream: a name of 1 to 256 bytes.
  /// - Returns: the event's version: 1 for the first, one more for each.
  /// - Throws: ``StoreError/conflict(_:)`` if the stream is not as expected; ``StoreError/limitExceeded(_:)``.
  @discardableResult
  public mutating func append(
    _ payload: Row, type: String, to stream: String, expecting expectation: StreamExpectation = .any
  ) throws(StoreError) -> UInt64 {
    try Self.check(stream)
    let found = try version(of: stream)
    switch expectation {
    case .any: break
    case .new where found == 0: break
    case .version(let version) where version == found: break
    case .new: throw .conflict(.stream(name: stream, expected: 0, found: found))
    case .version(let version): throw .conflict(.stream(name: stream, expected: version, found: found))
    }
    var value: [UInt8] = []
    value.appendText(type)
    try payload.appendEncodedObject(to: &value)
    guard value.count <= StoreLimits.recordByteCountMax else {
      throw .limitExceeded(
        StoreLimit(
          name: "recordByteCount", value: UInt64(value.count), maximum: UInt64(StoreLimits.recordByteCountMax)))
    }
    let version = found + 1
    var head: [UInt8] = []
    head.appendVarint(version)
    try apply(StreamEvent.key(stream, version: version), value)
    try apply(StreamEvent.headKey(stream), head)
    return version
  }

  /// The version of the newest event of a stream; zero if it has none.
  public mutating func version(of stream: String) throws(StoreError) -> UInt64 {
    state.stack.active.settle()
    return try StreamHead.read(stream, state.stack, at: .max, &buffer)
  }

  /// Where a projection stands: the last commit it has taken; zero if none.
  public mutating func place(ofProjection name: String) throws(StoreError) -> SequenceNumber {
    let key = StoreKey(KeyPrefix(.projection), Array(name.utf8))
    let finding = try key.withView { (key) throws(StoreError) in try find(key) }
    guard case .found = finding else { return .zero }
    var offset = 0
    guard let number = Varint.read(buffer.bytes, at: &offset) else {
      throw .undecodable(what: "the place of projection \(name)", reason: "it is no number")
    }
    return SequenceNumber(number)
  }

  /// Notes that a projection has taken everything up to `sequence`, in the same commit as what it wrote from it.
  public mutating func setPlace(ofProjection name: String, to sequence: SequenceNumber) throws(StoreError) {
    try Self.check(name)
    var value: [UInt8] = []
    value.appendVarint(sequence.rawValue)
    try apply(StoreKey(KeyPrefix(.projection), Array(name.utf8)), value)
  }

  private static func check(_ name: String) throws(StoreError) {
    let count = name.utf8.count
    guard count > 0 else { throw .invalidQuery(reason: "a stream or projection has a name") }
    guard count <= 256 else {
      throw .limitExceeded(StoreLimit(name: "nameByteCount", value: UInt64(count), maximum: 256))
    }
  }
}

enum StreamHead {
  static func read(
    _ stream: String, _ stack: LayerStack, at sequence: UInt64, _ buffer: inout ValueBuffer
  ) throws(StoreError) -> UInt64 {
    let key = StreamEvent.headKey(stream)
    let finding = try key.withView { (key) throws(StoreError) in try stack.find(key, at: sequence, into: &buffer) }
    guard case .found = finding else { return 0 }
    var offset = 0
    guard let version = Varint.read(buffer.bytes, at: &offset) else {
      throw .undecodable(what: "the head of stream \(stream)", reason: "it is no number")
    }
    return version
  }
}
