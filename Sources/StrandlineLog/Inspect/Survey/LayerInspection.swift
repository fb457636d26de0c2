/// One layer file, by its name and what the root says of it. What is in it is the business of the layer above.
@_spi(Engine) public struct LayerInspection: Hashable, Sendable {
  public var path: String
  public var name: LayerFileName
  /// nil: the root names it and it is not there.
  public var byteCount: Int64?
  public var isFile: Bool
  /// What the root says; nil if it does not name the layer.
  public var entry: LayerEntry?

  /// There, and as long as the root says.
  public var isWhole: Bool {
    guard let byteCount, let entry else { return byteCount != nil && isFile }
    return isFile && UInt64(clamping: byteCount) == entry.byteCount
  }
}
