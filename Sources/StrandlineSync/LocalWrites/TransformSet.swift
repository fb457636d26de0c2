internal import StrandlineProtocol

/// The transforms of one write, checked.
struct TransformSet: Sendable {
  private(set) var byColumn: [String: Transform] = [:]

  /// - Throws: ``SyncErrorCode/localConstraint`` for one that is malformed.
  init(_ transforms: [String: Value]?) throws(SyncError) {
    for (column, json) in transforms ?? [:] {
      do throws(MessageDefect) {
        byColumn[column] = try Transform(json, for: .client)
      } catch {
        throw SyncError(.localConstraint, "the transform of column \(column) is malformed: \(error)")
      }
    }
  }

  var isEmpty: Bool { byColumn.isEmpty }

  /// What a cell that a transform does not fit makes of it.
  enum Misfit { case refuse, leave }

  /// Applies them to the cells of a row.
  ///
  /// A cell that is no whole number is left alone by an increment. One that is no array is what `misfit` says for the transforms of arrays.
  ///
  /// - Throws: ``SyncErrorCode/localConstraint``, with `misfit` being `refuse`.
  func apply(to columns: inout [String: Value], onMisfit misfit: Misfit) throws(SyncError) {
    for (column, transform) in byColumn {
      if let value = transform.applied(to: columns[column]) {
        columns[column] = value
      } else if case .increment = transform {
        continue
      } else if case .refuse = misfit {
        throw SyncError(
          .localConstraint, "column \(column) holds no array, and a transform of arrays cannot be done on it")
      }
    }
  }
}
