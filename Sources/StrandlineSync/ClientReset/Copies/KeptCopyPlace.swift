@_spi(Engine) internal import Strandline
internal import StrandlineProtocol

/// Where the kept copies of a store lie: in its own directory, and in one of its own inside the directory that is configured.
struct KeptCopyPlace: Sendable {
  struct Entry: Hashable, Sendable {
    var name: String
    /// Nil: inside the store.
    var directory: String?
    var path: String
  }

  let store: Store
  /// Where new ones are made. Nil: inside the store.
  let directory: String?

  /// - Parameter configured: several stores may share it.
  init(_ store: Store, configured: String?) {
    self.store = store
    directory = configured.map { "\($0)/\(store.logStatus.identifier)" }
  }

  /// The oldest first.
  func all() throws -> [Entry] {
    var entries = try store.keptCopyNames().map { Entry(name: $0, directory: nil, path: path(of: $0, in: nil)) }
    if let directory {
      entries += try store.keptCopyNames(in: directory).map {
        Entry(name: $0, directory: directory, path: path(of: $0, in: directory))
      }
    }
    return entries.sorted { $0.name < $1.name }
  }

  /// One that is there.
  func find(_ name: String?, in directory: String?) throws -> Entry? {
    guard let name, try store.keptCopyNames(in: directory).contains(name) else { return nil }
    return Entry(name: name, directory: directory, path: path(of: name, in: directory))
  }

  func path(of name: String, in directory: String?) -> String { "\(directory ?? store.path)/\(name)" }

  func remove(_ entry: Entry) async throws { try await store.removeInner(entry.name, in: entry.directory) }

  /// Makes the directory that one is to lie in.
  func prepare(_ directory: String?) async throws {
    if let directory { try await store.makeCopyDirectory(directory) }
  }

  /// Removes what a crash left. In the store's own directory the store does so.
  func removeUnfinished() async throws {
    if let directory { try await store.removeUnfinishedCopies(in: directory) }
  }
}

extension SyncClient {
  /// Sixteen hex digits by which copies of one second stand in the order of their resets: milliseconds come first, chance behind them.
  func orderedID() -> String {
    let digits = String(orderedNumber(), radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  /// The name of a copy that belongs to no attempt.
  func newCopyName() -> String {
    Store.keptCopyName(milliseconds: configuration.clock.milliseconds(), id: orderedNumber())
  }

  private func orderedNumber() -> UInt64 {
    UInt64(truncatingIfNeeded: configuration.clock.milliseconds()) << 22 | UInt64.random(in: 0..<1 << 22)
  }

  var copies: KeptCopyPlace { KeptCopyPlace(store, configured: configuration.keptCopies.directory) }
}
