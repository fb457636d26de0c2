@_spi(Engine) import StrandlineLog
import StrandlineSync
import StrandlineTestSupport

/// A storage in memory that fails where a test says so, and keeps what it was asked.
final class ScriptedTransfer: TransferPort {
  enum Operation: String, Sendable {
    case upload
    case open
    case offset
    case append
    case confirm
    case hash
    case download
    case delete
  }

  private struct State {
    var calls: [String] = []
    /// By operation, how its next calls end; nil: well.
    var outcomes: [Operation: [TransferFailure.Kind?]] = [:]
    var objects: [String: [UInt8]] = [:]
    var hashes: [String: String] = [:]
    /// Bytes that the one session has.
    var sessionByteCount: Int64 = 0
    /// What the next call for the session's bytes says instead.
    var offsets: [Int64] = []
    /// By operation, what its next call waits in front of.
    var doors: [Operation: Door] = [:]
  }

  private let state = Lock(State())

  /// The operations, each with its size where it has one.
  var calls: [String] { state.withLock { $0.calls } }
  var objects: [String: [UInt8]] { state.withLock { $0.objects } }

  func end(_ operation: Operation, _ outcomes: TransferFailure.Kind?...) {
    state.withLock { $0.outcomes[operation, default: []] += outcomes }
  }

  func hold(_ operation: Operation, at door: Door) { state.withLock { $0.doors[operation] = door } }

  func put(_ bytes: [UInt8], at reference: String, hash: String?) {
    state.withLock { state in
      state.objects[reference] = bytes
      state.hashes[reference] = hash
    }
  }

  func sayOffset(_ offset: Int64) { state.withLock { $0.offsets.append(offset) } }
  func forgetCalls() { state.withLock { $0.calls = [] } }

  private func begin(_ operation: Operation, _ size: Int64? = nil) async throws(TransferFailure) {
    let (door, outcome) = state.withLock { state -> (Door?, TransferFailure.Kind?) in
      state.calls.append(size.map { "\(operation.rawValue) \($0)" } ?? operation.rawValue)
      let door = state.doors.removeValue(forKey: operation)
      guard let first = state.outcomes[operation]?.first else { return (door, nil) }
      state.outcomes[operation]?.removeFirst()
      return (door, first)
    }
    await door?.pass()
    if let outcome { throw TransferFailure(outcome, "the script says so") }
  }

  func upload(
    _ bytes: [UInt8], as object: TransferObject, _ context: TransferContext
  ) async throws(TransferFailure) {
    try await begin(.upload, Int64(bytes.count))
    state.withLock { $0.objects[object.reference] = bytes }
  }

  func openSession(
    for object: TransferObject, byteCount: Int64, _ context: TransferContext
  ) async throws(TransferFailure) -> String {
    try await begin(.open, byteCount)
    state.withLock { $0.sessionByteCount = 0 }
    return "session"
  }

  func offset(ofSession url: String, _ context: TransferContext) async throws(TransferFailure) -> Int64 {
    try await begin(.offset)
    return state.withLock { state in
      state.offsets.isEmpty ? state.sessionByteCount : state.offsets.removeFirst()
    }
  }

  func append(
    _ bytes: [UInt8], at offset: Int64, toSession url: String, _ context: TransferContext
  ) async throws(TransferFailure) -> Int64 {
    try await begin(.append, offset)
    return state.withLock { state in
      state.sessionByteCount = offset + Int64(bytes.count)
      return state.sessionByteCount
    }
  }

  func confirm(
    _ object: TransferObject, byteCount: Int64, sha256: String?, _ context: TransferContext
  ) async throws(TransferFailure) {
    try await begin(.confirm, byteCount)
  }

  func sha256(of object: TransferObject, _ context: TransferContext) async throws(TransferFailure) -> String? {
    try await begin(.hash)
    return state.withLock { $0.hashes[object.reference] }
  }

  func download(
    _ object: TransferObject, to path: String, _ context: TransferContext
  ) async throws(TransferFailure) {
    try await begin(.download)
    guard let bytes = state.withLock({ $0.objects[object.reference] }) else {
      throw TransferFailure(.refused(status: 404))
    }
    DirectoryProbe.write(bytes, to: path)
  }

  func delete(_ object: TransferObject, _ context: TransferContext) async throws(TransferFailure) {
    try await begin(.delete)
    state.withLock { $0.objects[object.reference] = nil }
  }
}
