public import StrandlineLog

/// Keeps an ordered trace of all calls, with what they answered, and the marks that a test puts between them.
///
/// Assertions about order read it: what was synced before what was promised, renamed, removed, acknowledged.
public final class RecordingFileSystem: InterceptingFileSystem {
  /// One line of the trace.
  public enum Entry: Sendable, CustomStringConvertible {
    case call(FileCall, Outcome, written: [UInt8]?)
    /// Put in by the test: an acknowledgement, the start of an operation.
    case mark(String)

    public var description: String {
      switch self {
      case .call(let call, let outcome, _): "\(call) = \(outcome)"
      case .mark(let text): "-- \(text)"
      }
    }
  }

  /// What a call answered.
  public enum Outcome: Sendable, Hashable, CustomStringConvertible {
    case done
    /// Bytes moved.
    case count(Int)
    case failed(Errno)

    public var description: String {
      switch self {
      case .done: "ok"
      case .count(let count): "\(count)"
      case .failed(let errno): "\(errno)"
      }
    }
  }

  /// The moments at which ``init(_:keepsBytes:observer:)``'s observer is called.
  public enum Moment: Sendable, Hashable { case before, after }

  public let base: any FileSystem
  public let names = DescriptorNames()
  private let keepsBytes: Bool
  private let observer: (@Sendable (FileCall, Moment) -> Void)?
  private let state = TestLock<(entries: [Entry], callCount: Int)>((entries: [], callCount: 0))

  /// - Parameters:
  ///   - keepsBytes: whether the trace holds what was written.
  ///   - observer: called before and after each call, on the thread that makes it. A crash test takes the disk's image
  ///     here.
  public init(
    _ base: any FileSystem, keepsBytes: Bool = false, observer: (@Sendable (FileCall, Moment) -> Void)? = nil
  ) {
    self.base = base
    self.keepsBytes = keepsBytes
    self.observer = observer
  }

  /// The trace so far.
  public var entries: [Entry] { state.withLock { $0.entries } }

  /// Puts a line of the test's own into the trace.
  public func mark(_ text: String) { state.withLock { $0.entries.append(.mark(text)) } }

  /// The trace, or its last lines, one entry a line, for a failure message or a comparison with a checked-in file.
  public func trace(last count: Int = .max) -> String {
    entries.suffix(count).map(\.description).joined(separator: "\n")
  }

  public func perform<Result>(
    _ call: FileCall, writing bytes: UnsafeRawBufferPointer?, _ body: (FileCall) throws(Errno) -> Result
  ) throws(Errno) -> Result {
    var call = call
    call.number = state.withLock {
      $0.callCount += 1
      return $0.callCount - 1
    }
    observer?(call, .before)
    defer { observer?(call, .after) }
    do throws(Errno) {
      let result = try body(call)
      let count = result as? Int
      var written: [UInt8]?
      if keepsBytes, let bytes { written = [UInt8](bytes.prefix(count ?? bytes.count)) }
      let entry = Entry.call(call, count.map { .count($0) } ?? .done, written: written)
      state.withLock { $0.entries.append(entry) }
      return result
    } catch {
      state.withLock { $0.entries.append(.call(call, .failed(error), written: nil)) }
      throw error
    }
  }
}
