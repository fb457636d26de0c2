@_spi(Engine) internal import StrandlineLog

/// What the facts of a store say whose bytes all verify: whether tables can be made of them, and which of them no definition names.
///
/// A log without tables has neither. For the verification of a store; opens it for reading, and changes nothing.
@_spi(Engine) public struct FactProof: Sendable {
  /// Facts of a table or column without a definition, as one sentence each.
  public private(set) var undefined: [String] = []
  /// Why the store does not open; nil if it does, or could not be read just now.
  public private(set) var refusal: StoreError?

  /// - Parameter path: directory of the store.
  /// - Complexity: an open, and all versions of rows and index entries.
  public init(of path: String) {
    do throws(StoreError) {
      var options = StoreOptions()
      options.log.access = .readOnly
      options.compactsInBackground = false
      let store = try Store.open(at: path, options: options)
      defer { try? store.close() }
      let state = store.engine.lane.withLock { $0.state }
      let unnamed = try UnnamedNumbers(in: state.stack, knowing: state.tables)
      undefined = unnamed.byTable.sorted { $0.key < $1.key }.map { number, found in
        let rows = found.rowCount == 1 ? "1 row" : "\(found.rowCount) rows"
        guard let name = state.tables.numbered(number)?.name else {
          return "\(rows) of table \(number), which has no definition"
        }
        let columns = found.cellCounts.keys.sorted().map { "\($0)" }.joined(separator: ", ")
        return columns.isEmpty
          ? "entries of indexes of table \(name) that have no definition"
          : "\(rows) of table \(name) with cells of columns that have no definition: \(columns)"
      }
    } catch {
      switch error {
      case .undecodable: refusal = error
      // A log alone; or files that a writer beside us replaces.
      default: return
      }
    }
  }
}
