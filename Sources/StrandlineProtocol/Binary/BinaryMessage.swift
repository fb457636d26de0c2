/// A message that has a binary form beside its JSON: for the same content a reader of either gets equal messages.
///
/// JSON bounds how fast a copy is filled for the first time; the binary form is for both ends that know it, each body under a media type
/// of its own.
public protocol BinaryMessage: WireMessage {
  /// The message as one frame.
  ///
  /// - Complexity: O(bytes); one pass and one LZ4 block.
  var binary: [UInt8] { get }

  /// - Parameter contentByteCountMax: Most bytes that the unpacked content may have.
  /// - Throws: ``MessageDefect`` with the byte.
  init(binary: [UInt8], contentByteCountMax: Int) throws(MessageDefect)
}

/// How a body is written.
public enum BodyForm: String, Sendable, CaseIterable {
  case json = "application/json"
  /// Version 1 of the binary form.
  case binary = "application/vnd.strandline.v1"

  /// The form of a `Content-Type`, whatever parameters it has; nil for any other.
  public init?(contentType: String) {
    let essence = contentType.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)[0]
    let name = essence.filter { $0 != " " && $0 != "\t" }.lowercased()
    guard let form = BodyForm(rawValue: name) else { return nil }
    self = form
  }

  public var contentType: String { rawValue }

  public func encode(_ message: some BinaryMessage) -> [UInt8] {
    switch self {
    case .json: message.body
    case .binary: message.binary
    }
  }

  /// - Parameter contentByteCountMax: Most bytes that a binary content may have once it is unpacked.
  public func decode<Message: BinaryMessage>(
    _ type: Message.Type, from body: [UInt8], contentByteCountMax: Int
  ) throws(MessageDefect) -> Message {
    switch self {
    case .json: try Message(body: body)
    case .binary: try Message(binary: body, contentByteCountMax: contentByteCountMax)
    }
  }
}

/// What one message brings to its binary form.
protocol BinaryContent: BinaryMessage {
  static var kind: BinaryKind { get }
  func write(to writer: inout BinaryWriter)
  init(from reader: inout BinaryReader) throws(MessageDefect)
}

extension BinaryContent {
  public var binary: [UInt8] {
    var writer = BinaryWriter()
    write(to: &writer)
    return BinaryFrame.encode(writer.finished(), kind: Self.kind)
  }

  public init(binary: [UInt8], contentByteCountMax: Int) throws(MessageDefect) {
    let content = try BinaryFrame.decode(binary, kind: Self.kind, contentByteCountMax: contentByteCountMax)
    self = try content.span.bytes.withUnsafeBytes { (content) throws(MessageDefect) in
      var reader = try BinaryReader(content)
      let message = try Self(from: &reader)
      try reader.end()
      return message
    }
  }
}
