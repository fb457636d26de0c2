extension Row {
  /// Appends the row by the names of its columns, as NestedEncoding lays an object out.
  ///
  /// - Throws: ``StoreError/limitExceeded(_:)`` (`recordByteCount`, `nestingDepth`). What was appended before that is to be thrown away.
  func appendEncodedObject(to bytes: inout [UInt8]) throws(StoreError) {
    try NestedEncoding.appendBody(self, to: &bytes)
  }

  /// Reads what ``appendEncodedObject(to:)`` wrote.
  ///
  /// - Throws: ``StoreError/undecodable(what:reason:)``.
  init(encodedObject bytes: UnsafeRawBufferPointer) throws(StoreError) {
    guard let row = NestedEncoding.decodeRow(bytes) else {
      throw .undecodable(what: "row", reason: "its bytes are no object")
    }
    self = row
  }
}
