/// What a layer file holds and what is wrong with it, as the layer above sees it.
@_spi(Engine) public struct LayerProof: Hashable, Sendable {
  /// Absolute path.
  public var file: String
  public var byteCount: Int64
  /// Of blocks that verify; nil where the file's own index cannot be used.
  public var blockCount: Int?
  public var versionCount: Int?
  /// Damage by place, at most one report for each block or section.
  public var damage: [CorruptionReport] = []
  /// Why a store with this layer is not opened; nil if it is, its damaged blocks left for the reads that meet them.
  public var refusal: LogError?

  public init(file: String, byteCount: Int64) {
    self.file = file
    self.byteCount = byteCount
  }
}

/// Proves every byte of a layer file, which the layer above knows how to do.
///
/// Throws ``LogError/generationGone`` if the file went away meanwhile, ``LogError/ioFailed(_:)`` if the device did not answer.
@_spi(Engine) public typealias LayerProver =
  @Sendable (
    _ entry: LayerEntry, _ identifier: StoreIdentifier, _ directory: StoreDirectory
  ) throws(LogError) -> LayerProof
