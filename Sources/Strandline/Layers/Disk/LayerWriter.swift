internal import CStrandline
@_spi(Engine) internal import StrandlineLog

/// Writes one layer: versions in order, each key's newest first.
///
/// The file has a temporary name until ``finish(level:covering:horizon:times:)``; a writer that is let go before leaves nothing.
/// Any error ends the work: let the writer go then.
struct LayerWriter: ~Copyable {
  private let directory: StoreDirectory
  private let identifier: StoreIdentifier
  private let keySeed: UInt64
  private let options: LayerOptions
  private let id: UInt64
  private let salt: UInt64
  private let file: LayerFile

  /// Versions that wait for the choice of block and dictionary; nil once it is made.
  private var waiting: WaitingVersions?
  private var encoder: BlockEncoder
  private var dictionary: [UInt8] = []
  private var index = LayerIndexBuilder()
  private var filter: KeyFilterBuilder
  private var lastBlockKey = StoreKey(KeyPrefix(rawValue: 0))
  private var hasBlock = false

  private var versionCount = 0
  private var deleteCount = 0
  private var keyCount = 0
  private var rawByteCount = 0
  private var blockVersionCount = 0
  private var blockDeleteCount = 0
  private var blockRawByteCount = 0

  /// Layers below this have no dictionary: it would be a large part of them.
  static let dictionaryLayerByteCountMin = 1 << 20

  /// Makes the temporary file.
  ///
  /// - Parameters:
  ///   - keySeed: of ``KeyHash``, the store's.
  ///   - environment: its chance gives the layer its id and salt; the file system is the directory's.
  init(
    in directory: StoreDirectory, identifier: StoreIdentifier, environment: Environment, keySeed: UInt64,
    options: LayerOptions
  ) throws(StoreError) {
    self.directory = directory
    self.identifier = identifier
    self.keySeed = keySeed
    self.options = options
    id = environment.randomBits()
    salt = environment.randomBits()
    filter = KeyFilterBuilder(keyCountMax: options.keyCountMax)
    file = try LayerFile(
      in: directory, id: id, from: LayerFormat.headerBlockByteCount, writeByteCount: options.writeByteCount)
    switch options.dictionary {
    case .none:
      encoder = Self.encoder([], options.effort)
    case .given(let bytes):
      dictionary = Array(bytes.suffix(LayerFormat.dictionaryByteCountMax))
      encoder = Self.encoder(dictionary, options.effort)
    case .sampled:
      encoder = Self.encoder([], options.effort)
      waiting = WaitingVersions(byteCountMax: Self.dictionaryLayerByteCountMin)
    }
  }

  private static func encoder(_ dictionary: [UInt8], _ effort: LayerOptions.Effort) -> BlockEncoder {
    dictionary.span.bytes.withUnsafeBytes { bytes in
      BlockEncoder(
        blockByteCount: bytes.isEmpty ? LayerFormat.largeBlockByteCount : LayerFormat.smallBlockByteCount,
        dictionary: bytes, effort: effort)
    }
  }

  /// Bytes that are in the file or on their way to it.
  var byteCount: Int { file.byteCount }

  /// Adds one version, copied.
  ///
  /// - Precondition: it comes behind all versions before: a greater key, or the same with a smaller sequence number.
  mutating func append(_ version: VersionView) throws(StoreError) {
    if waiting == nil {
      try add(version)
    } else if waiting!.add(version) {
      try choose()
    }
  }

  /// Chooses between dictionary and large blocks by what waits, then writes it.
  private mutating func choose() throws(StoreError) {
    guard let versions = waiting else { return }
    waiting = nil
    if versions.byteCount >= Self.dictionaryLayerByteCountMin {
      var sample = LayerDictionary(offering: versions.byteCount)
      versions.visit { sample.offer($0) }
      if Self.gains(versions, sample.bytes) {
        dictionary = sample.bytes
        encoder = Self.encoder(dictionary, options.effort)
      }
    }
    try versions.visit { (version) throws(StoreError) in try add(version) }
  }

  /// Whether the dictionary makes blocks of its size at least 3 % smaller.
  private static func gains(_ versions: WaitingVersions, _ dictionary: [UInt8]) -> Bool {
    func size(_ encoder: consuming BlockEncoder) -> Int? {
      var byteCount = 0
      var number = 0
      do throws(LayerDefect) {
        try versions.visit { (version) throws(LayerDefect) in
          // A quarter is enough to see it, and all of it is touched.
          number += 1
          guard number / 64 % 4 == 0 else { return }
          if !encoder.add(version) {
            byteCount += try encoder.encode(salt: 0, at: 0).count
            _ = encoder.add(version)
          }
        }
        return byteCount
      } catch {
        return nil
      }
    }
    guard let with = size(Self.encoder(dictionary, .fast)),
      let without = size(
        BlockEncoder(
          blockByteCount: LayerFormat.smallBlockByteCount, dictionary: UnsafeRawBufferPointer(start: nil, count: 0),
          effort: .fast))
    else { return false }
    return with * 100 < without * 97
  }

  private mutating func add(_ version: VersionView) throws(StoreError) {
    let isNewKey: Bool
    if encoder.isEmpty {
      isNewKey = !hasBlock || checkOrder(of: version, behindBlock: lastBlockKey)
    } else {
      let order =
        version.key.prefix == encoder.prefix
        ? KeyView.compare(encoder.lastKey, version.key.bytes) : encoder.prefix < version.key.prefix ? -1 : 1
      precondition(
        order < 0 || order == 0 && version.sequence < encoder.lastSequence, "versions must come in order, and each once"
      )
      isNewKey = order != 0
    }
    if !encoder.add(version) {
      try endBlock()
      let isTaken = encoder.add(version)
      precondition(isTaken, "an empty block takes any version")
    }
    if isNewKey {
      filter.insert(KeyHash.of(version.key, seed: keySeed))
      keyCount &+= 1
    }
    blockVersionCount &+= 1
    if version.value == nil { blockDeleteCount &+= 1 }
    blockRawByteCount &+= 3 &+ version.key.bytes.count &+ (version.value?.count ?? 0)
  }

  private var lastBlockSequence: UInt64 = 0

  private func checkOrder(of version: VersionView, behindBlock last: StoreKey) -> Bool {
    let order = last.withView { KeyView.compare($0, version.key) }
    precondition(
      order < 0 || order == 0 && version.sequence < lastBlockSequence, "versions must come in order, and each once")
    return order != 0
  }

  private mutating func endBlock() throws(StoreError) {
    guard !encoder.isEmpty else { return }
    let prefix = encoder.prefix
    let offset = file.byteCount
    let first = (key: encoder.firstKey, sequence: encoder.firstSequence)
    let isRunGoingOn = hasBlock && lastBlockKey.prefix == prefix
    index.add(prefix: prefix, first: first, after: isRunGoingOn ? lastBlockKey.bytes : nil, at: offset)
    index.count(versions: blockVersionCount, deletes: blockDeleteCount, byteCount: blockRawByteCount)
    versionCount += blockVersionCount
    deleteCount += blockDeleteCount
    rawByteCount += blockRawByteCount
    blockVersionCount = 0
    blockDeleteCount = 0
    blockRawByteCount = 0
    lastBlockKey.prefix = prefix
    lastBlockKey.bytes.replaceSubrange(0..., with: encoder.lastKey)
    lastBlockSequence = encoder.lastSequence
    hasBlock = true
    let block: UnsafeRawBufferPointer
    do throws(LayerDefect) {
      block = try encoder.encode(salt: salt, at: offset)
    } catch {
      throw .corrupt(
        CorruptionReport(
          reason: .layerDamaged, file: file.temporaryPath, offset: Int64(offset),
          expected: "the block that was just encoded", found: error.description))
    }
    try file.append(block)
  }

  /// Ends the layer: synced, renamed to its name, its directory synced.
  ///
  /// - Parameters:
  ///   - covering: the commits whose facts the layer holds.
  ///   - horizon: of the merge that made it: every version above it was kept.
  ///   - times: of some of those commits, ascending.
  /// - Returns: the entry that META is to name.
  consuming func finish(
    level: UInt8, covering: ClosedRange<SequenceNumber>, horizon: UInt64, times: [TimeSample] = []
  ) throws(StoreError) -> LayerEntry {
    try choose()
    try endBlock()
    var footer = LayerFooter(
      id: id, level: level, firstSequence: covering.lowerBound, lastSequence: covering.upperBound, horizon: horizon,
      keySeed: keySeed)
    footer.versionCount = versionCount
    footer.deleteCount = deleteCount
    footer.keyCount = keyCount
    footer.rawByteCount = rawByteCount
    footer.blockByteCount = encoder.blockByteCount
    footer.blocksEnd = file.byteCount
    let partitionTags = try appendFilter(&footer)
    footer.blockCount = index.blockCount
    footer.index = try appendSection(
      index.encoded(blocksEnd: footer.blocksEnd, partitionTags: partitionTags), alignment: 64)
    footer.runCount = index.runCount
    footer.wordCount = index.wordCount
    footer.separatorByteCount = index.separatorByteCount
    footer.dictionary = try appendSection(dictionary, alignment: 1)
    footer.timeCount = times.count
    footer.times = try appendSection(Self.encoded(times), alignment: 1)
    let (bytes, tag) = footer.encoded(salt: salt, at: file.byteCount)
    try file.append(bytes)
    let header = LayerHeader(
      identifier: identifier, id: id, salt: salt, firstSequence: covering.lowerBound,
      lastSequence: covering.upperBound)
    let entry = LayerEntry(
      id: id, level: level, firstSequence: covering.lowerBound, lastSequence: covering.upperBound,
      byteCount: UInt64(file.byteCount), footerTag: tag, salt: salt)
    try file.finish(header: header.encodedBlock(), name: entry.fileName)
    return entry
  }

  /// Gives up: nothing is left of the file.
  consuming func abandon() {}

  private mutating func appendFilter(_ footer: inout LayerFooter) throws(StoreError) -> [UInt64] {
    filter.fold()
    let bytes = filter.bytes
    try file.pad(to: 4096)
    footer.filterOffset = file.byteCount
    footer.filterLineCount = bytes.count / KeyFilter.lineByteCount
    var tags: [UInt64] = []
    for offset in stride(from: 0, to: bytes.count, by: LayerFormat.filterPartitionByteCount) {
      let partition = bytes.slice(offset, min(LayerFormat.filterPartitionByteCount, bytes.count - offset))
      tags.append(LayerFormat.tag(partition, salt: salt, at: footer.filterOffset + offset))
    }
    try file.append(bytes)
    return tags
  }

  private func appendSection(_ bytes: [UInt8], alignment: Int) throws(StoreError) -> LayerFooter.Section {
    try file.pad(to: alignment)
    let offset = file.byteCount
    let tag = bytes.withUnsafeBytes { LayerFormat.tag($0, salt: salt, at: offset) }
    try file.append(bytes)
    return LayerFooter.Section(offset: offset, byteCount: bytes.count, tag: tag)
  }

  private static func encoded(_ times: [TimeSample]) -> [UInt8] {
    var bytes: [UInt8] = []
    for time in times {
      withUnsafeBytes(of: time.sequence.littleEndian) { bytes += $0 }
      withUnsafeBytes(of: time.milliseconds.littleEndian) { bytes += $0 }
    }
    return bytes
  }
}

/// The first versions of a layer, held until it is known what they are like.
private struct WaitingVersions {
  private struct Place {
    var sequence: UInt64
    var prefix: KeyPrefix
    var offset: Int
    var keyByteCount: Int
    /// -1: a delete.
    var valueByteCount: Int
  }

  private let byteCountMax: Int
  private var bytes: [UInt8] = []
  private var places: [Place] = []

  init(byteCountMax: Int) { self.byteCountMax = byteCountMax }

  var byteCount: Int { bytes.count + 16 * places.count }

  /// Copies a version; true once there are enough of them.
  mutating func add(_ version: VersionView) -> Bool {
    places.append(
      Place(
        sequence: version.sequence, prefix: version.key.prefix, offset: bytes.count,
        keyByteCount: version.key.bytes.count, valueByteCount: version.value?.count ?? -1))
    bytes += version.key.bytes
    if let value = version.value { bytes += value }
    return byteCount >= byteCountMax
  }

  func visit<Failure: Error>(_ body: (VersionView) throws(Failure) -> Void) throws(Failure) {
    try bytes.span.bytes.withUnsafeBytes { (bytes) throws(Failure) in
      for place in places {
        let key = KeyView(prefix: place.prefix, bytes: bytes.slice(place.offset, place.keyByteCount))
        let value =
          place.valueByteCount < 0 ? nil : bytes.slice(place.offset + place.keyByteCount, place.valueByteCount)
        try body(VersionView(key: key, sequence: place.sequence, value: value))
      }
    }
  }
}
