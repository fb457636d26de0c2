@_spi(Engine) internal import StrandlineLog

/// The keys as they are now: fixed, or loaded from where they are published and loaded again when they may have changed.
///
/// A load that fails leaves the keys as they were. Keys that could not be confirmed for a day are no longer used.
public final class TokenKeys: Sendable {
  public typealias Load = @Sendable () async throws -> [UInt8]

  private struct State {
    var set: TokenKeySet?
    /// Of the last load that brought keys, and of the last that was begun; nil: never.
    var loadedAt: Int64?
    var begunAt: Int64?
    var isLoading = false
  }

  private let state: Lock<State>
  private let load: Load?

  /// Seconds between loads when nothing seems wrong, between loads because of unknown keys, and that keys stay usable unconfirmed.
  private static let refreshInterval: Int64 = 600
  private static let loadIntervalMin: Int64 = 30
  private static let ageMax: Int64 = 86_400

  public init(_ set: TokenKeySet) {
    state = Lock(State(set: set))
    load = nil
  }

  /// Keys of a JSON Web Key Set; none until ``reload(now:)`` has brought them.
  ///
  /// - Parameter load: Brings the set's bytes, from a file or the network; called once at a time.
  public init(jwks load: @escaping Load) {
    state = Lock(State())
    self.load = load
  }

  /// Loads the keys and waits for it.
  ///
  /// - Parameter now: Seconds since 1970.
  /// - Throws: What the load threw, or ``TokenKeyError``.
  public func reload(now: Int64) async throws {
    guard let load else { return }
    state.withLock { state in
      state.isLoading = true
      state.begunAt = now
    }
    defer { state.withLock { $0.isLoading = false } }
    let set = try TokenKeySet(jwks: try await load())
    state.withLock { state in
      state.set = set
      state.loadedAt = now
    }
  }

  /// The keys to check with; nil while there are none.
  func current(now: Int64) -> TokenKeySet? {
    let (set, isDue) = state.withLock { state in
      guard load != nil else { return (state.set, false) }
      let age = state.loadedAt.map { now - $0 } ?? .max
      return (age > Self.ageMax ? nil : state.set, age > Self.refreshInterval)
    }
    if isDue { beginReload(now: now) }
    return set
  }

  /// Begins a load, unless one was begun a moment ago.
  ///
  /// - Returns: Whether one is on its way.
  @discardableResult
  func beginReload(now: Int64) -> Bool {
    guard load != nil else { return false }
    let (begins, isLoading) = state.withLock { state in
      if state.isLoading { return (false, true) }
      // A clock that went back is no reason to wait for it.
      if let begun = state.begunAt, (0..<Self.loadIntervalMin).contains(now - begun) { return (false, false) }
      state.isLoading = true
      state.begunAt = now
      return (true, true)
    }
    if begins { Task { try? await reload(now: now) } }
    return isLoading
  }
}
