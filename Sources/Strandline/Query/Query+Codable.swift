extension QueryRows {
  /// The next row as a value of the application's own; nil behind the last.
  ///
  /// - Throws: ``StoreError/coding(type:path:reason:)`` for a row that the type cannot be made of; the rows behind it can still be read.
  public func next<Model: Decodable>(_ type: Model.Type) throws(StoreError) -> Model? {
    guard let row = try next() else { return nil }
    return try RowDecoder().decode(type, from: row)
  }
}

extension Query {
  /// The rows in memory, as values of the application's own.
  public func all<Model: Decodable>(_ type: Model.Type) throws(StoreError) -> [Model] {
    let rows = try rows()
    var models: [Model] = []
    while let model = try rows.next(type) { models.append(model) }
    return models
  }

  /// The first row as a value of the application's own, or nil.
  public func first<Model: Decodable>(_ type: Model.Type) throws(StoreError) -> Model? {
    guard let row = try first() else { return nil }
    return try RowDecoder().decode(type, from: row)
  }

  /// As ``single()``, as a value of the application's own.
  public func single<Model: Decodable>(_ type: Model.Type) throws(StoreError) -> Model {
    try RowDecoder().decode(type, from: try single())
  }

  /// As ``maybeSingle()``, as a value of the application's own.
  public func maybeSingle<Model: Decodable>(_ type: Model.Type) throws(StoreError) -> Model? {
    guard let row = try maybeSingle() else { return nil }
    return try RowDecoder().decode(type, from: row)
  }
}
