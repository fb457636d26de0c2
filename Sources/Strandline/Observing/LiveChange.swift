public import StrandlineLog

/// How the answer of a live query differs from the answer before it.
public struct LiveChange: Sendable {
  /// The state that the answer is of.
  public let view: ReadView
  /// The whole answer: nothing was in front of it.
  public let isFirst: Bool
  /// Rows that were not in the answer before. In the first answer in the order of the query, later in the order of their keys.
  public internal(set) var came: [LiveRow] = []
  /// Rows that are not in the answer any more, as they were in it.
  public internal(set) var went: [LiveRow] = []
  /// Rows that were in the answer before and are now, with other cells; as they are now.
  public internal(set) var changed: [LiveRow] = []

  let query: Query

  init(_ query: Query, at snapshot: Snapshot, isFirst: Bool) {
    self.query = query
    self.isFirst = isFirst
    view = ReadView(snapshot)
  }

  var isEmpty: Bool { came.isEmpty && went.isEmpty && changed.isEmpty }

  /// The newest commit that the answer shows.
  public var sequence: SequenceNumber { view.sequence }

  /// The whole answer as of now, in the order of the query.
  public func rows() throws(StoreError) -> QueryRows { try view.rows(of: query.table, for: query.plan) }

  /// Notes what became of one row.
  mutating func add(_ key: [Value], before: Row?, after: Row?) {
    switch (before, after) {
    case (nil, let after?): came.append(LiveRow(key: key, row: after))
    case (let before?, nil): went.append(LiveRow(key: key, row: before))
    case (let before?, let after?): if before != after { changed.append(LiveRow(key: key, row: after)) }
    case (nil, nil): break
    }
  }
}

/// A row in the answer of a live query.
public struct LiveRow: Hashable, Sendable {
  /// The primary key, in the order of its columns, whatever columns the query selects.
  public var key: [Value]
  /// As the query selects it.
  public var row: Row

  /// The row as a value of the application's own.
  ///
  /// - Throws: ``StoreError/coding(type:path:reason:)``.
  public func decoded<Model: Decodable>(_ type: Model.Type) throws(StoreError) -> Model {
    try RowDecoder().decode(type, from: row)
  }
}
