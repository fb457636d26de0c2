internal import Glibc

/// What a look at a store's directory shows before any frame is read: META, segment headers, layers, the lock.
///
/// Grows with the number of files, not with their size.
@_spi(Engine) public struct StoreSurvey: Sendable {
  /// Absolute.
  public var path: String
  public var listing: StoreListing
  public var root: RootInspection
  /// By ordinal, the chain's own segment first where several files claim one.
  public var segments: [SegmentInspection]
  /// Those of the root, top first, then those that it does not name.
  public var layers: [LayerInspection]
  public var lock: LockState
  /// The chain as open sees it; nil where there is no root to begin with.
  public var chain: SegmentChain?
  /// What open says of META, headers and chain; nil if it finds nothing wrong with them.
  public var chainError: LogError?
  let directory: StoreDirectory
  /// Position of the first byte, where a piece of a segment is looked at.
  public var piece: LSN?

  /// Nothing of a store is here.
  public var isEmpty: Bool { root.byteCount == nil && segments.isEmpty && layers.isEmpty }
  /// Nothing of a store is here, nor the beginning of one, but other files are.
  public var isForeign: Bool {
    isEmpty && listing.unfinished.isEmpty && !(listing.unknown.isEmpty && listing.inner.isEmpty)
  }

  /// The segments that hold what is live, in order.
  public var live: [SegmentInspection] { segments.filter { $0.role == .closed || $0.role == .active } }
  public var active: SegmentInspection? { segments.last { $0.role == .active } }

  static func read(_ directory: StoreDirectory, searchesBits: Bool) throws(LogError) -> StoreSurvey {
    // In front of the names: whatever a writer makes or removes meanwhile then shows as a root that has changed since.
    let root = try RootInspection.read(in: directory, searchesBits: searchesBits)
    let names: [String]
    do throws(Errno) {
      names = try directory.fileSystem.retryingInterrupts { () throws(Errno) in
        try directory.fileSystem.list(directory.path)
      }
    } catch {
      if error == .noSuchFile { throw .noStore(path: directory.path) }
      throw .ioFailed(IOFailure(operation: .list, path: directory.path, errno: error))
    }
    let listing = StoreListing(names)
    var segments: [SegmentInspection] = []
    for name in listing.segments {
      segments.append(
        try SegmentInspection.read(
          directory.path(of: name.description), name: name, in: directory.fileSystem, searchesBits: searchesBits))
    }
    var survey = StoreSurvey(
      path: directory.path, listing: listing, root: root, segments: segments, layers: [],
      lock: LockState.of(directory), chain: nil, chainError: nil, directory: directory)
    try survey.readChain()
    survey.assignRoles()
    try survey.readLayers()
    return survey
  }

  /// Asks the same code as open.
  private mutating func readChain() throws(LogError) {
    guard let root = root.root else {
      chainError = root.error
      if root.byteCount == nil, listing.holdsData { chainError = listing.missingRoot(in: directory) }
      return
    }
    do throws(LogError) {
      chain = try SegmentChain.read(listing, root: root, in: directory)
    } catch {
      if case .ioFailed(let failure) = error {
        throw failure.errno == .noSuchFile ? .generationGone : error
      }
      chainError = error
    }
  }

  /// Finds which files make up the chain: from open's own walk, or, where that gave up, by who names whom.
  private mutating func assignRoles() {
    let members: Set<SegmentFileName>
    if let chain {
      members = Set(chain.headers.map(\.fileName))
    } else {
      members = Self.bestChain(segments, root: root.root)
    }
    let firstLive = root.root?.firstLiveOrdinal ?? 0
    for index in segments.indices {
      let segment = segments[index]
      if let name = segment.name, segment.header?.fileName == name, members.contains(name) {
        segments[index].role = .closed
      } else if let ordinal = segment.name?.ordinal, ordinal < firstLive {
        segments[index].role = .released
      } else if let unfinished = chain?.unfinished, unfinished == segment.name {
        segments[index].role = .unfinished
      }
    }
    segments.sort { left, right in
      let leftOrdinal = left.name?.ordinal ?? left.header?.ordinal ?? 0
      let rightOrdinal = right.name?.ordinal ?? right.header?.ordinal ?? 0
      if leftOrdinal != rightOrdinal { return leftOrdinal < rightOrdinal }
      return left.role == .closed && right.role != .closed
    }
    let chained = segments.indices.filter { segments[$0].role == .closed }
    for (place, index) in chained.enumerated() {
      guard place + 1 < chained.count else {
        segments[index].role = .active
        continue
      }
      let next = segments[chained[place + 1]].header
      if let next, next.predecessor.id == segments[index].header?.id { segments[index].named = next.predecessor }
    }
  }

  /// Where META or the chain is damaged: for each ordinal the file that its successor names, or the only one there is.
  private static func bestChain(_ segments: [SegmentInspection], root: RootSlot?) -> Set<SegmentFileName> {
    let identifier = root?.identifier ?? commonest(segments.compactMap { $0.header?.identifier })
    let candidates = segments.compactMap { segment -> SegmentHeader? in
      guard let header = segment.header, header.fileName == segment.name, header.identifier == identifier,
        header.ordinal >= root?.firstLiveOrdinal ?? 0
      else { return nil }
      return header
    }
    var chosen: Set<SegmentFileName> = []
    var wantedID = root.flatMap { $0.lastCreatedOrdinal > 0 ? $0.lastCreatedID : nil }
    let lastKnown = root?.lastCreatedOrdinal ?? 0
    for ordinal in Set(candidates.map(\.ordinal)).sorted(by: >) {
      let rivals = candidates.filter { $0.ordinal == ordinal }
      let isWantedOrdinal = ordinal <= lastKnown || lastKnown == 0
      let pick = rivals.first { isWantedOrdinal && $0.id == wantedID } ?? rivals[0]
      chosen.insert(pick.fileName)
      wantedID = pick.predecessor.id
    }
    return chosen
  }

  static func commonest<Value: Hashable>(_ values: [Value]) -> Value? {
    var counts: [Value: Int] = [:]
    for value in values { counts[value, default: 0] += 1 }
    let highest = counts.values.max()
    // The first in order among equals, so that the answer does not depend on hashing.
    return values.first { counts[$0] == highest }
  }

  private mutating func readLayers() throws(LogError) {
    var entries: [LayerFileName: LayerEntry] = [:]
    for entry in root.root?.layers ?? [] {
      let name = LayerFileName(lastSequence: entry.lastSequence, id: entry.id)
      entries[name] = entry
      layers.append(try layer(name, entry))
    }
    for name in listing.layers where entries[name] == nil {
      layers.append(try layer(name, nil))
    }
  }

  private func layer(_ name: LayerFileName, _ entry: LayerEntry?) throws(LogError) -> LayerInspection {
    let path = directory.path(of: name.description)
    let status = try directory.perform(.status, path) { () throws(Errno) in
      try directory.fileSystem.statusIfPresent(at: path)
    }
    return LayerInspection(
      path: path, name: name, byteCount: status?.byteCount, isFile: status?.kind == .file, entry: entry)
  }
}
