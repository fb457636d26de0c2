extension QueryRows {
  /// Bytes that are gathered before they are handed over.
  private static var pieceByteCount: Int { 64 << 10 }

  /// Writes a header and the rows that are left as csv in UTF-8: RFC 4180 with lines ended by a line feed, null as an empty field.
  public func writeCSV(_ write: ([UInt8]) -> Void) throws(StoreError) {
    let csv = CSVText(columns: columns)
    var text: [UInt8] = []
    csv.appendHeader(to: &text)
    while let row = try next() {
      csv.append(row, to: &text)
      if text.count >= Self.pieceByteCount {
        write(text)
        text.removeAll(keepingCapacity: true)
      }
    }
    write(text)
  }
}
