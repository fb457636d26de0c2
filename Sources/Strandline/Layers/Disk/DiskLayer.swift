@_spi(Engine) internal import StrandlineLog

/// A layer on disk, open for reading from any number of threads.
///
/// Opening proves header, footer and index. A block is proved each time it comes into memory; a damaged one is an error at the
/// read that needs it, and everything else stays readable. The file is closed when nobody holds the layer any more.
final class DiskLayer: @unchecked Sendable {
  let entry: LayerEntry
  let footer: LayerFooter
  let index: LayerIndex
  let reader: LayerReader
  let cache: BlockCache
  let cacheNumber: UInt64
  /// For the cache: one word for each block.
  let slots: BlockCache.Slots
  private let filter: LayerFilter
  /// What blocks were compressed against; empty for none.
  let dictionary: [UInt8]
  /// When some of its commits were made, ascending.
  let times: [TimeSample]
  private let spareScratches = Lock<[BlockScratch]>([])
  private static let spareScratchCountMax = 8

  /// Opens the file that `entry` names.
  ///
  /// - Throws: ``StoreError/corrupt(_:)`` if it is not there, not the one, or damaged in header, footer or index;
  ///   ``StoreError/unsupportedFormat(file:detail:)`` if a newer version wrote it.
  init(
    opening entry: LayerEntry, in directory: StoreDirectory, identifier: StoreIdentifier, cache: BlockCache,
    keySeed: UInt64
  ) throws(StoreError) {
    let reader = try LayerReader(opening: entry, in: directory)
    let footer = try Self.readFooter(reader, entry)
    try Self.checkHeader(reader, entry, identifier)
    guard footer.keySeed == keySeed else {
      throw reader.damage(
        at: reader.byteCount - LayerFooter.encodedByteCount,
        expected: "a filter with hash seed \(hexadecimal(keySeed))",
        found: "seed \(hexadecimal(footer.keySeed))")
    }
    // Index, dictionary and times end in front of the footer: one read.
    let sections = RawMemory(byteCount: reader.byteCount - footer.index.offset + BlockView.slackByteCount)
    let start = footer.index.offset
    let end = reader.byteCount - LayerFooter.encodedByteCount
    try reader.read(into: UnsafeMutableRawBufferPointer(rebasing: sections.bytes[0..<end - start]), at: start)
    for (section, name) in [(footer.index, "index"), (footer.dictionary, "dictionary"), (footer.times, "times")] {
      let bytes = UnsafeRawBufferPointer(
        rebasing: sections.bytes[section.offset - start..<section.end - start])
      let computed = LayerFormat.tag(bytes, salt: entry.salt, at: section.offset)
      guard computed == section.tag else {
        throw reader.error(
          .wrongTag(stored: section.tag, computed: computed), of: "the layer's \(name)", at: section.offset)
      }
    }
    dictionary = Array(
      UnsafeRawBufferPointer(rebasing: sections.bytes[footer.dictionary.offset - start..<footer.dictionary.end - start])
    )
    let timeBytes = UnsafeRawBufferPointer(
      rebasing: sections.bytes[footer.times.offset - start..<footer.times.end - start])
    times = (0..<footer.timeCount).map { place in
      TimeSample(
        sequence: timeBytes.u64(place * 16), milliseconds: Int64(bitPattern: timeBytes.u64(place * 16 + 8)))
    }
    do throws(LayerDefect) {
      index = try LayerIndex(sections, footer: footer)
    } catch {
      throw reader.error(error, of: "the layer's index", at: footer.index.offset)
    }
    self.entry = entry
    self.footer = footer
    self.reader = reader
    self.cache = cache
    cacheNumber = cache.addLayer()
    filter = LayerFilter(footer)
    // Zeros that cost nothing before they are touched.
    slots = Self.zeroedSlots(footer.blockCount)
  }

  deinit {
    cache.removeLayer(cacheNumber)
    Self.freeSlots(slots)
  }

  var versionCount: Int { footer.versionCount }
  var deleteCount: Int { footer.deleteCount }
  var keyCount: Int { footer.keyCount }
  /// The merge that made the layer kept every version above it.
  var horizon: UInt64 { footer.horizon }
  /// Of the file.
  var byteCount: Int { reader.byteCount }
  /// Memory that index, dictionary and what was read of the filter take.
  var residentByteCount: Int { footer.index.byteCount + dictionary.count + filter.readByteCount }

  private static func readFooter(_ reader: LayerReader, _ entry: LayerEntry) throws(StoreError) -> LayerFooter {
    let offset = reader.byteCount - LayerFooter.encodedByteCount
    guard offset >= LayerFormat.headerBlockByteCount else {
      throw reader.damage(at: nil, expected: "a layer", found: "\(reader.byteCount) bytes, too few for one")
    }
    let memory = RawMemory(byteCount: LayerFooter.encodedByteCount)
    try reader.read(into: memory.bytes, at: offset)
    let footer: LayerFooter
    do throws(LayerDefect) {
      footer = try LayerFooter(decoding: UnsafeRawBufferPointer(memory.bytes), salt: entry.salt, at: offset)
    } catch {
      throw reader.error(error, of: "the layer's footer", at: offset)
    }
    let tag = UnsafeRawBufferPointer(memory.bytes).u64(LayerFooter.encodedByteCount - 8)
    guard tag == entry.footerTag, footer.id == entry.id, footer.firstSequence == entry.firstSequence,
      footer.lastSequence == entry.lastSequence, footer.level == entry.level
    else {
      throw reader.damage(
        at: offset, expected: "the layer with footer tag \(hexadecimal(entry.footerTag))",
        found: "another one, with tag \(hexadecimal(tag))")
    }
    return footer
  }

  private static func checkHeader(
    _ reader: LayerReader, _ entry: LayerEntry, _ identifier: StoreIdentifier
  ) throws(StoreError) {
    let memory = RawMemory(byteCount: LayerFormat.headerBlockByteCount)
    try reader.read(into: memory.bytes, at: 0)
    let header: LayerHeader
    do throws(LayerDefect) {
      header = try LayerHeader(decodingBlock: UnsafeRawBufferPointer(memory.bytes))
    } catch {
      throw reader.error(error, of: "the layer's header", at: 0)
    }
    guard header.identifier == identifier else {
      throw reader.damage(at: 24, expected: "store \(identifier)", found: "store \(header.identifier)")
    }
    guard header.id == entry.id, header.salt == entry.salt, header.firstSequence == entry.firstSequence,
      header.lastSequence == entry.lastSequence
    else {
      throw reader.damage(
        at: 0, expected: "layer \(hexadecimal(entry.id))", found: "the header of layer \(hexadecimal(header.id))")
    }
  }

  // MARK: Blocks

  /// Memory to decode this layer's blocks in, with its dictionary in place.
  func takeScratch() -> BlockScratch {
    if let spare = spareScratches.withLock({ $0.popLast() }) { return spare }
    return dictionary.withUnsafeBytes { dictionary in
      BlockScratch(
        dictionary: dictionary, blockByteCount: footer.blockByteCount, inputByteCount: footer.blockByteCount + 2048)
    }
  }

  func returnScratch(_ scratch: BlockScratch) {
    // One that a large row has blown up is not kept.
    guard scratch.outputByteCount <= 1 << 20, scratch.inputByteCount <= 1 << 20 else { return }
    spareScratches.withLock { spares in
      if spares.count < Self.spareScratchCountMax { spares.append(scratch) }
    }
  }

  /// Reads and proves a block.
  func readBlock(_ block: Int, _ scratch: BlockScratch) throws(StoreError) -> BlockView {
    let offset = index.offset(of: block)
    let byteCount = index.offset(of: block &+ 1) &- offset
    scratch.reserveInput(byteCount)
    let input = UnsafeMutableRawBufferPointer(rebasing: scratch.input.bytes[0..<byteCount])
    try reader.read(into: input, at: offset)
    return try decode(UnsafeRawBufferPointer(input), at: offset, scratch)
  }

  /// Proves a block that was read from `offset`.
  @inline(__always)
  func decode(
    _ stored: UnsafeRawBufferPointer, at offset: Int, _ scratch: BlockScratch
  ) throws(StoreError) -> BlockView {
    do throws(LayerDefect) {
      return try BlockDecoder.decode(
        stored, salt: entry.salt, at: offset, blockByteCount: footer.blockByteCount, scratch: scratch)
    } catch {
      throw reader.error(error, of: "a block of the layer", at: offset)
    }
  }

  /// Reads and proves one piece of the filter.
  func readFilterPartition(
    _ partition: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StoreError) -> UnsafeRawBufferPointer {
    let offset = partition * LayerFormat.filterPartitionByteCount
    let byteCount = min(LayerFormat.filterPartitionByteCount, footer.filterByteCount - offset)
    let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[0..<byteCount])
    try reader.read(into: piece, at: footer.filterOffset + offset)
    let computed = LayerFormat.tag(UnsafeRawBufferPointer(piece), salt: entry.salt, at: footer.filterOffset + offset)
    guard computed == index.filterTag(of: partition) else {
      throw reader.error(
        .wrongTag(stored: index.filterTag(of: partition), computed: computed), of: "a piece of the layer's filter",
        at: footer.filterOffset + offset)
    }
    return UnsafeRawBufferPointer(piece)
  }

  // MARK: Reading

  // HOT PATH: once per point read and layer. Evidence: Docs/Benchmarks.md, "read.random.hot".

  /// The newest version of a key at or below a sequence number.
  ///
  /// - Parameter hash: ``KeyHash`` of the key, with the store's seed.
  @inline(__always)
  func find(
    _ key: KeyView, hash: UInt64, at sequence: UInt64, into buffer: inout ValueBuffer
  ) throws(StoreError) -> Finding {
    guard try filter.mayContain(hash, in: self) else { return .absent }
    let run = index.firstRun(from: key.prefix)
    guard run < index.runCount, index.prefix(ofRun: run) == key.prefix else { return .absent }
    let blocks = index.blocks(ofRun: run)
    var block = index.lastBlock(ofRun: run, notBehind: key.bytes, sequence: sequence)
    guard block >= blocks.lowerBound else { return .absent }
    while true {
      if let finding = try find(key.bytes, at: sequence, inBlock: block, into: &buffer) { return finding }
      // The last version in this block may have been newer, and the next block go on with the key.
      block &+= 1
      guard block < blocks.upperBound, index.continues(ofRun: run, block: block, key: key.bytes) else { return .absent }
    }
  }

  /// Nil: the block has no version of the key at or below the sequence number.
  @inline(__always)
  private func find(
    _ key: UnsafeRawBufferPointer, at sequence: UInt64, inBlock block: Int, into buffer: inout ValueBuffer
  ) throws(StoreError) -> Finding? {
    var finding: Finding?
    let slot = slots + block
    BlockCache.Frame.prefetch(BlockCache.hint(slot))
    enum Lookup {
      case hit
      case miss(takesIn: Bool)
    }
    let lookup = cache.withShard(ofBlock: block, cacheNumber) { shard -> Lookup in
      let content = slot.pointee
      if content > BlockCache.missedOnce {
        let frame = UnsafeMutablePointer<BlockCache.Frame>(bitPattern: content)!
        if !frame.pointee.wasUsed { frame.pointee.wasUsed = true }
        shard.hitCount &+= 1
        finding = Self.find(key, at: sequence, in: BlockView(frame: BlockCache.Frame.image(frame)), into: &buffer)
        return .hit
      }
      shard.missCount &+= 1
      let takesIn = content == BlockCache.missedOnce || !shard.isScarce
      BlockCache.set(slot, BlockCache.missedOnce)
      return .miss(takesIn: takesIn)
    }
    switch lookup {
    case .hit: return finding
    case .miss(let takesIn): return try findUncached(key, at: sequence, inBlock: block, takesIn: takesIn, into: &buffer)
    }
  }

  @inline(never)
  private func findUncached(
    _ key: UnsafeRawBufferPointer, at sequence: UInt64, inBlock block: Int, takesIn: Bool,
    into buffer: inout ValueBuffer
  ) throws(StoreError) -> Finding? {
    let scratch = takeScratch()
    defer { returnScratch(scratch) }
    let view = try readBlock(block, scratch)
    let finding = Self.find(key, at: sequence, in: view, into: &buffer)
    if takesIn { takeIn(view, block) }
    return finding
  }

  @inline(__always)
  private static func find(
    _ key: UnsafeRawBufferPointer, at sequence: UInt64, in view: BlockView, into buffer: inout ValueBuffer
  ) -> Finding? {
    let place = view.place(of: key)
    guard place.isFound else { return nil }
    var index = place.index
    while view.sequence(index) > sequence {
      index &+= 1
      guard index < view.count, view.hasKey(index, key, head: keyHead(key, from: view.sharedByteCount)) else {
        return nil
      }
    }
    if view.isDelete(index) { return .deleted(sequence: view.sequence(index)) }
    buffer.set(view.body(index).value)
    return .found(sequence: view.sequence(index))
  }

  /// Versions in order, from both ends. The cursor keeps the layer alive.
  ///
  /// - Parameter usesCache: whether it looks for blocks in the cache and leaves some there. A merge, which reads all once, does not.
  func makeCursor(usesCache: Bool = false) -> DiskCursor { DiskCursor(self, usesCache: usesCache) }

  // MARK: Statistics

  /// What a layer holds of one family and table.
  struct PrefixStatistics: Hashable, Sendable {
    var prefix: KeyPrefix
    var versionCount: UInt64
    var deleteCount: UInt64
    /// Keys, with three bytes for each prefix, and values.
    var rawByteCount: UInt64
    /// Blocks in the file.
    var storedByteCount: UInt64
  }

  /// By prefix, ascending.
  var prefixStatistics: [PrefixStatistics] {
    (0..<index.runCount).map { number in
      let run = index.run(number)
      return PrefixStatistics(
        prefix: run.prefix, versionCount: run.versionCount, deleteCount: run.deleteCount,
        rawByteCount: run.rawByteCount,
        storedByteCount: UInt64(index.offset(of: Int(run.end)) - index.offset(of: Int(run.first))))
    }
  }
}
