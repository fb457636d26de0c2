@_spi(Engine) public import StrandlineLog

/// Copies what verifies of a damaged store, log and layers, to a new store. The source is only read.
///
/// The log is saved as ``Salvage`` does it. A layer that verifies is copied; of a damaged one every block that verifies goes into a new
/// layer, and the report says which tables and keys are missing. Where the log still holds the commits that a damaged layer lost, the new
/// store replays them. If anything is lost, secondary indexes are made anew, so that queries agree with the rows that are there; a row whose
/// newest version was lost may come back as an older one. Tables and columns whose definitions are lost, and whose rows and cells are not, get
/// names that say so (``LostDefinition``).
public enum StoreSalvage {
  /// - Parameters:
  ///   - path: the damaged store's directory, or one segment file.
  ///   - target: where the new store is to stand; nothing may be there, its parent must exist.
  ///   - epoch: an older epoch to save instead of the highest.
  ///   - environment: the disk, the clocks and chance; the machine's own.
  /// - Throws: as ``Salvage/run(from:to:epoch:environment:)``; ``StoreError/copyUnconfirmed(path:_:)`` with the whole new store at `target`,
  ///   other errors with nothing there.
  /// - Complexity: reads the log and each damaged layer twice, whole layers once more to copy them; where something is lost, everything that
  ///   was kept is written once more.
  @discardableResult
  public static func run(
    from path: String, to target: String, epoch: UInt64? = nil, environment: Environment = .system
  ) throws(StoreError) -> StoreSalvageReport {
    let work = SalvageWork(environment: environment)
    do throws(LogError) {
      let log = try Salvage.run(from: path, to: target, epoch: epoch, environment: environment, layers: work)
      return work.report(log)
    } catch {
      throw StoreError(error)
    }
  }
}

/// What a salvage learns of the layers on its way. Used by one thread.
private final class SalvageWork: LayerSalvager {
  private let environment: Environment
  private var outcomes: [(file: String, entry: LayerEntry, outcome: LayerSalvage.Outcome)] = []
  private var tables = Tables(Catalog())
  private var reindexedTables: [String] = []
  private var lostDefinitions: [LostDefinition] = []
  private var unsettled: StoreError?

  init(environment: Environment) { self.environment = environment }

  func keep(
    _ entry: LayerEntry, of identifier: StoreIdentifier, from source: StoreDirectory, to target: StoreDirectory
  ) throws(LogError) -> KeptLayer {
    do throws(StoreError) {
      let outcome = try LayerSalvage(
        entry: entry, identifier: identifier, source: source, target: target, environment: environment
      ).run()
      outcomes.append((source.path(of: entry.fileName), entry, outcome))
      return outcome.kept
    } catch {
      switch error {
      case .outOfSpace(let failure): throw .outOfSpace(failure)
      case .ioFailed(let failure): throw .ioFailed(failure)
      case .corrupt(let report): throw .corrupt(report)
      default:
        throw .corrupt(
          CorruptionReport(
            reason: .layerDamaged, file: target.path, expected: "a layer that can be written", found: error.summary))
      }
    }
  }

  func finish(_ directory: StoreDirectory, _ report: SalvageReport) throws(LogError) {
    if report.isComplete { return }
    do throws(StoreError) {
      try settle(directory.path)
    } catch {
      switch error {
      case .outOfSpace(let failure): throw .outOfSpace(failure)
      case .ioFailed(let failure): throw .ioFailed(failure)
      // A log that an application keeps by itself has no tables to look after.
      case .unsupportedFormat(_, .withoutTables) where outcomes.isEmpty, .undecodable where outcomes.isEmpty: break
      default: unsettled = error
      }
    }
  }

  /// Takes the numbers of lost definitions, brings versions of log and layers into one order, and makes the indexes fit the rows.
  private func settle(_ path: String) throws(StoreError) {
    var options = StoreOptions()
    options.log.environment = environment
    options.log.createsIfMissing = false
    options.history = .commits(.max)
    options.compactsInBackground = false
    if outcomes.isEmpty {
      // A log that an application keeps by itself is no store: found out by an open that changes nothing.
      options.log.access = .readOnly
      try Store.open(at: path, options: options).close()
      options.log.access = .readWrite
    }
    let store = try Store.open(at: path, options: options)
    do throws(StoreError) {
      tables = store.engine.lane.withLock { $0.state.tables }
      lostDefinitions = try store.engine.nameLostDefinitions()
      try store.compact()
      reindexedTables = try store.engine.reindex()
    } catch {
      do { try store.close() } catch _ {}
      throw error
    }
    try store.close()
  }

  func report(_ log: SalvageReport) -> StoreSalvageReport {
    var report = StoreSalvageReport(log: log)
    report.reindexedTables = reindexedTables
    report.lostDefinitions = lostDefinitions
    report.unsettled = unsettled
    report.layers = outcomes.map { file, entry, outcome in
      let state: SavedLayer.Outcome =
        switch outcome.kept {
        case .whole: .whole
        case .rebuilt: .rebuilt
        case .lost: .lost
        }
      return SavedLayer(
        file: file, outcome: state, commits: entry.firstSequence...entry.lastSequence,
        versionCount: outcome.versionCount, isInLog: log.holdsAll(of: entry), damage: outcome.damage,
        // Of a layer that is lost nothing is left to say where a loss begins and ends.
        lost: state == .lost ? [] : outcome.lost.flatMap(lostKeys))
    }
    return report
  }

  /// A loss in words: one, or several where nothing tells which tables it reaches from and into.
  private func lostKeys(_ lost: LayerSalvage.LostVersions) -> [LostKeys] {
    func keys(_ prefix: KeyPrefix?, after: StoreKey?, before: StoreKey?, isOpenEnded: Bool) -> LostKeys {
      let family = prefix.map { prefix in
        Family(rawValue: prefix.familyNumber).map { "\($0)" } ?? "\(prefix.familyNumber)"
      }
      let table = prefix.flatMap { prefix -> String? in
        guard prefix.familyNumber == Family.row.rawValue || prefix.familyNumber == Family.index.rawValue else {
          return nil
        }
        return tables.numbered(prefix.table)?.name ?? "\(prefix.table)"
      }
      func text(_ key: StoreKey?) -> String? {
        guard let key, let prefix, key.prefix == prefix, prefix.familyNumber == Family.row.rawValue else { return nil }
        return tables.numbered(prefix.table)?.text(ofKey: key.bytes)
      }
      return LostKeys(
        family: family, table: table, after: text(after), before: text(before), isOpenEnded: isOpenEnded,
        byteCount: lost.bytes.count)
    }
    if let prefix = lost.prefix {
      return [keys(prefix, after: lost.after, before: lost.before, isOpenEnded: lost.isOpenEnded)]
    }
    if let one = lost.after?.prefix, one == lost.before?.prefix {
      return [keys(one, after: lost.after, before: lost.before, isOpenEnded: lost.isOpenEnded)]
    }
    var losses: [LostKeys] = []
    if let after = lost.after { losses.append(keys(after.prefix, after: after, before: nil, isOpenEnded: false)) }
    // Whatever lies between two tables, in front of the first or behind the last may be among it.
    losses.append(keys(nil, after: nil, before: nil, isOpenEnded: lost.isOpenEnded))
    if let before = lost.before { losses.append(keys(before.prefix, after: nil, before: before, isOpenEnded: false)) }
    return losses
  }
}

extension SalvageReport {
  /// Whether every commit that a layer covers was kept.
  fileprivate func holdsAll(of entry: LayerEntry) -> Bool {
    guard let firstSequence, let lastSequence, gapCount == gaps.count else { return false }
    return firstSequence <= entry.firstSequence && entry.lastSequence <= lastSequence
      && gaps.allSatisfy { $0.last < entry.firstSequence || entry.lastSequence < $0.first }
  }
}
