internal import FoundationEssentials
@_spi(Engine) internal import Strandline
public import StrandlineProtocol

/// A client's store as it was before a reset, in a directory of its own.
public struct KeptCopy: Hashable, Sendable {
  /// Absolute.
  public var path: String
  /// What the reset did; nil where it was not noted.
  public var report: ClientResetReport?

  static let reportFileName = "KEPT.json"

  init(path: String, report: ClientResetReport?) {
    self.path = path
    self.report = report
  }

  public var name: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// Opens the copy for reading. It is a complete store: every command that reads stores works on it, and ``backup(to:)`` makes one of it
  /// that can be written to.
  ///
  /// - Throws: ``StoreError``.
  public func open(options: StoreOptions = StoreOptions()) async throws -> Store {
    var options = options
    options.log.access = .readOnly
    options.scrub = nil
    options.observer = nil
    return try await Store.open(at: path, options: options)
  }

  /// Makes a store of its own of the copy, which a client can be opened on.
  ///
  /// - Parameter target: nothing may be there.
  /// - Throws: ``StoreError``.
  public func backup(to target: String, options: StoreOptions = StoreOptions()) async throws {
    var options = options
    options.scrub = nil
    options.observer = nil
    let store = try await Store.open(at: path, options: options)
    do {
      try await store.backup(to: target)
    } catch {
      try? await store.close()
      throw error
    }
    try await store.close()
  }

  /// The copy as the callbacks of a reset have it.
  ///
  /// - Parameter tables: those of the configuration.
  public func view(
    _ tables: [String: TableConfiguration], options: StoreOptions = StoreOptions()
  ) async throws -> ClientView {
    let configuration = SyncConfiguration(tables: tables, remote: NoRemote())
    return try await view(ClientTables(configuration), options: options)
  }

  func view(_ tables: ClientTables, options: StoreOptions) async throws -> ClientView {
    do {
      let store = try await open(options: options)
      return ClientView(try store.view(), tables, store: store)
    } catch {
      throw SyncError.thrown(for: error)
    }
  }
}

/// For configurations that nothing is asked of.
private struct NoRemote: Remote {
  private var failure: RemoteFailure {
    RemoteFailure(.unreachable(reason: "a copy has no server", underlying: nil))
  }
  func pull(_ request: PullRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PullAnswer> {
    throw failure
  }
  func push(_ request: PushRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PushAnswer> {
    throw failure
  }
}

extension SyncClient {
  /// Copies of the store as it was before resets, the oldest first.
  public func keptCopies() async throws -> [KeptCopy] {
    try ensureOpen()
    do {
      let reports = try read { try $0.resetReports() }
      return try store.keptCopyNames().map { name in
        let path = "\(store.path)/\(name)"
        return KeptCopy(path: path, report: reports.last { $0.keptCopy.path == path || name.hasSuffix($0.attemptID) })
      }
    } catch {
      throw SyncError.thrown(for: error)
    }
  }

  /// Removes a copy for good.
  public func remove(_ copy: KeptCopy) async throws {
    try ensureOpen()
    guard try store.keptCopyNames().contains(copy.name), copy.path == "\(store.path)/\(copy.name)" else {
      throw SyncError(.localConstraint, "\(copy.path) is no kept copy of this store")
    }
    do { try await store.removeInner(copy.name) } catch { throw SyncError.thrown(for: error) }
  }

  /// Removes what the policy does not keep any longer. A removal that fails fails nothing.
  func removeOldCopies() async {
    guard let names = try? store.keptCopyNames(), !names.isEmpty else { return }
    let record = try? read { try $0.resetRecord() }
    let named = [record?.copyName, record?.action?.copyName].compactMap { $0 }
    let doomed = KeptCopyRetention.removable(
      names, policy: configuration.keptCopies, named: Set(named), now: configuration.clock.milliseconds())
    for name in doomed { try? await store.removeInner(name) }
  }
}

/// Which copies are kept no longer.
enum KeptCopyRetention {
  static let ageMin: Int64 = 86_400_000

  /// - Parameters:
  ///   - names: the oldest first.
  ///   - named: what a record or an action still needs.
  ///   - now: milliseconds since 1970.
  static func removable(_ names: [String], policy: KeptCopyPolicy, named: Set<String>, now: Int64) -> [String] {
    let (ageMax, overflow) = policy.ageMax.components.seconds.multipliedReportingOverflow(by: 1000)
    var left = names.count
    var doomed: [String] = []
    for name in names {
      guard let time = milliseconds(of: name), now - time >= ageMin, !named.contains(name), name != names.last else {
        continue
      }
      if left > policy.countMax || (!overflow && now - time > ageMax) {
        doomed.append(name)
        left -= 1
      }
    }
    return doomed
  }

  /// When the copy was made, by its name.
  static func milliseconds(of name: String) -> Int64? {
    let parts = name.split(separator: "-")
    guard parts.count == 3, parts[1].utf8.count == 16 else { return nil }
    let digits = parts[1].utf8.filter { 0x30...0x39 ~= $0 }.map { Int($0 - 0x30) }
    guard digits.count == 14 else { return nil }
    func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 10 + $1 } }
    let (year, month, day) = (number(0..<4), number(4..<6), number(6..<8))
    // Days since 1970 of a civil date: Hinnant, "chrono-compatible low-level date algorithms".
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    let seconds = days * 86_400 + number(8..<10) * 3600 + number(10..<12) * 60 + number(12..<14)
    return Int64(seconds) * 1000
  }
}
