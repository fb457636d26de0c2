/// The part of a salvage that knows what is in layers.
@_spi(Engine) public protocol LayerSalvager: AnyObject {
  /// Says what can be kept of a layer, and puts it into `target` if it is not the whole file.
  ///
  /// - Throws: ``LogError/outOfSpace(_:)`` and ``LogError/ioFailed(_:)`` for what cannot be written. What cannot be read is lost.
  func keep(
    _ entry: LayerEntry, of identifier: StoreIdentifier, from source: StoreDirectory, to target: StoreDirectory
  ) throws(LogError) -> KeptLayer

  /// Looks after the new store, which is complete under a temporary name and counts for nothing yet.
  func finish(_ directory: StoreDirectory, _ report: SalvageReport) throws(LogError)
}

/// What is kept of one layer.
@_spi(Engine) public enum KeptLayer: Hashable, Sendable {
  /// The file is to be copied as it is.
  case whole
  /// A new layer in the target holds what verifies; all of it, or not.
  case rebuilt(LayerEntry, isComplete: Bool)
  case lost
}
