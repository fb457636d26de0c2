/// One step that takes the rows of a table from what is stored to what a schema declares, given at open.
///
/// All steps that are needed are taken in one commit, together with the new definitions: after a crash all of them are taken or none is. A
/// step whose work was done at an earlier open is passed over, so steps may stay in the application for as long as stores of before may
/// turn up. The key of a table cannot be migrated.
public struct Migration: Sendable {
  enum Kind: Hashable, Sendable {
    case type(from: ColumnType, to: ColumnType)
    case filling
  }

  let table: String
  let column: String
  let kind: Kind
  let convert: @Sendable (Row) throws -> Value

  /// A column gets another type. Steps of one column are put together: a store with strings goes through a step to `int` and one from `int`
  /// to `object`.
  ///
  /// - Parameters:
  ///   - table: by its declared name.
  ///   - column: by its declared name.
  ///   - from: what the cells hold in front of the step.
  ///   - to: what they hold behind it; the last step's is what the schema declares.
  ///   - convert: given each row that has such a cell, null or not, as it is in front of the step; answers the cell behind it. May throw, and
  ///     then nothing is changed. Must not use the store.
  public init(
    _ table: String, column: String, from: ColumnType, to: ColumnType,
    _ convert: @escaping @Sendable (Row) throws -> Value
  ) {
    self.table = table
    self.column = column
    kind = .type(from: from, to: to)
    self.convert = convert
  }

  /// A column that rows may lack becomes one that they must have, or such a column is added.
  ///
  /// - Parameter fill: given each row without a value there, behind the steps that change types; answers the cell. Otherwise as for types.
  public init(_ table: String, filling column: String, _ fill: @escaping @Sendable (Row) throws -> Value) {
    self.table = table
    self.column = column
    kind = .filling
    convert = fill
  }
}

/// The steps that the rows of one table need.
struct TableMigration: Sendable {
  var number: UInt16
  /// In the order in which each row goes through them.
  var steps: [Migration] = []

  /// The row as it is declared.
  ///
  /// - Throws: ``StoreError/migrationFailed(table:column:reason:)``.
  func migrated(_ row: Row) throws(StoreError) -> Row {
    var row = row
    for step in steps {
      switch step.kind {
      case .type where row[step.column] == nil: continue
      case .filling where row[step.column] ?? .null != .null: continue
      case .type, .filling: break
      }
      do {
        row[step.column] = try step.convert(row)
      } catch {
        throw .migrationFailed(table: step.table, column: step.column, reason: "\(error)")
      }
    }
    return row
  }
}

extension [Migration] {
  /// The steps for a column of one table that lead from one type to another; nil if they do not lead there.
  func path(_ column: String, of table: String, from stored: ColumnType, to declared: ColumnType) -> [Migration]? {
    var path: [Migration] = []
    var type = stored
    for step in self where step.table == table && step.column == column {
      guard case .type(type, let next) = step.kind else { continue }
      path.append(step)
      type = next
      if type == declared { return path }
    }
    return nil
  }

  /// The step that fills a column of one table.
  func filling(_ column: String, of table: String) -> Migration? {
    first { $0.table == table && $0.column == column && $0.kind == .filling }
  }
}
