@_spi(Engine) public import StrandlineLog

/// Looks into layer files without opening the store they belong to. For the dump tool: takes no lock and changes nothing.
@_spi(Engine) public struct LayerInspector {
  private let directory: StoreDirectory
  private let identifier: StoreIdentifier

  /// - Parameters:
  ///   - path: of the store's directory, absolute.
  ///   - identifier: as META has it.
  public init(
    ofStoreAt path: String, identifier: StoreIdentifier, environment: Environment = .system
  ) {
    directory = StoreDirectory(path: path, fileSystem: environment.fileSystem)
    self.identifier = identifier
  }

  /// Proves every byte of the layer that META names by `entry`.
  ///
  /// - Parameters:
  ///   - progress: told the bytes that were read since it was told last; answers whether to go on.
  ///   - note: told what is damaged or cannot be read.
  /// - Returns: false if `progress` ended it.
  /// - Throws: ``StoreError/unsupportedFormat(file:detail:)`` for a layer of a newer version, which says nothing of its bytes.
  public func verify(
    _ entry: LayerEntry, progress: (Int) -> Bool = { _ in true }, note: (ScrubFinding) -> Void
  ) throws(StoreError) -> Bool {
    do throws(StoreError) {
      return try open(entry).scrub(progress: progress, note: note)
    } catch {
      switch error {
      case .corrupt(let report): note(.damaged(report))
      case .ioFailed(let failure): note(.unreadable(failure))
      default: throw error
      }
      return true
    }
  }

  /// A layer with a cache that holds nothing.
  func open(_ entry: LayerEntry) throws(StoreError) -> DiskLayer {
    try DiskLayer(
      opening: entry, in: directory, identifier: identifier, cache: BlockCache(byteCountMax: 0),
      keySeed: KeySeeds(memory: 0, identifier: identifier).disk)
  }
}
