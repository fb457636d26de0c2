@_spi(Engine) public import StrandlineLog

/// Looks into layer files without opening the store they belong to. For the dump tool: takes no lock and changes nothing.
@_spi(Engine) public struct LayerInspector: Sendable {
  private let directory: StoreDirectory
  private let identifier: StoreIdentifier

  /// - Parameter identifier: of the store, as META has it.
  public init(in directory: StoreDirectory, of identifier: StoreIdentifier) {
    self.directory = directory
    self.identifier = identifier
  }

  /// Proves every byte of the layer that META names by `entry`: for ``StoreInspector/verify(threadCount:layers:progress:)``.
  ///
  /// - Parameter readsBlocks: false looks no further than an open does: header, footer and index.
  /// - Throws: ``LogError/generationGone`` if the file is not there any more, ``LogError/ioFailed(_:)``.
  public func proof(of entry: LayerEntry, readsBlocks: Bool = true) throws(LogError) -> LayerProof {
    let path = directory.path(of: entry.fileName)
    var proof = LayerProof(file: path, byteCount: Int64(clamping: entry.byteCount))
    do throws(StoreError) {
      let layer = try open(entry)
      proof.blockCount = layer.index.blockCount
      proof.versionCount = layer.versionCount
      if readsBlocks { proof.damage = try layer.verify() }
    } catch {
      let isGone = try directory.perform(.status, path) { () throws(Errno) in
        try directory.fileSystem.statusIfPresent(at: path) == nil
      }
      if isGone { throw .generationGone }
      switch error {
      case .corrupt(let report): proof.refusal = .corrupt(report)
      case .unsupportedFormat(let file, let detail): proof.refusal = .unsupportedFormat(file: file, detail: detail)
      case .ioFailed(let failure): throw .ioFailed(failure)
      default:
        proof.refusal = .corrupt(
          CorruptionReport(reason: .layerDamaged, file: path, expected: "a layer", found: error.summary))
      }
    }
    return proof
  }

  /// A layer with a cache that holds nothing.
  func open(_ entry: LayerEntry) throws(StoreError) -> DiskLayer {
    try DiskLayer(
      opening: entry, in: directory, identifier: identifier, cache: BlockCache(byteCountMax: 0),
      keySeed: KeySeeds(memory: 0, identifier: identifier).disk)
  }
}
