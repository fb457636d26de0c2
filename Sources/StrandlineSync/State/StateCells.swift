internal import StrandlineProtocol

/// The cells of a row of the client's own, read as what they have to be.
struct StateCells {
  let row: Row
  let what: String

  init(_ row: Row, _ what: String) {
    self.row = row
    self.what = what
  }

  private func defect(_ column: String) -> SyncError {
    SyncError(.json, "\(what) does not decode: \(column) is missing or of another kind")
  }

  func text(_ column: String) throws(SyncError) -> String {
    guard case .string(let text)? = row[column] else { throw defect(column) }
    return text
  }

  func number(_ column: String) throws(SyncError) -> Int64 {
    guard case .int(let number)? = row[column] else { throw defect(column) }
    return number
  }

  func flag(_ column: String) throws(SyncError) -> Bool {
    guard case .bool(let flag)? = row[column] else { throw defect(column) }
    return flag
  }

  func object(_ column: String) throws(SyncError) -> [String: Value] {
    guard case .object(let members)? = row[column] else { throw defect(column) }
    return members
  }

  func texts(_ column: String) throws(SyncError) -> [String] {
    guard case .array(let members)? = row[column] else { throw defect(column) }
    var texts: [String] = []
    for member in members {
      guard case .string(let text) = member else { throw defect(column) }
      texts.append(text)
    }
    return texts
  }

  func textIfPresent(_ column: String) throws(SyncError) -> String? {
    row[column].map(\.isNull) ?? true ? nil : try text(column)
  }

  func objectIfPresent(_ column: String) throws(SyncError) -> [String: Value]? {
    row[column].map(\.isNull) ?? true ? nil : try object(column)
  }
}
