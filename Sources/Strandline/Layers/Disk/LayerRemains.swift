internal import CStrandline
@_spi(Engine) internal import StrandlineLog

/// What can still be read of a layer file, whatever of it is damaged.
///
/// Needs only what META says of the layer. Its blocks are found through its index, or where that does not verify by a walk from one to the
/// next: each says how long it is, and its tag, seeded with the layer's salt and the block's place, proves it. Blocks that were compressed
/// against the layer's dictionary are lost with that. Bytes that the system cannot read are damaged bytes.
final class LayerRemains {
  /// What stands next in the file.
  enum Piece {
    /// A block that verifies; its bytes are valid until the next piece is asked for.
    case block(BlockView)
    /// Bytes in which there is no block that verifies, and whose versions they held, if the index tells.
    case lost(Range<Int>, KeyPrefix?)
  }

  let entry: LayerEntry
  /// Nil where it does not verify.
  let footer: LayerFooter?
  /// Empty where there is none, or none that verifies.
  let dictionary: [UInt8]
  let times: [TimeSample]
  /// Whether it is known where the last block ends.
  var knowsEnd: Bool { footer != nil }

  private let reader: LayerReader
  /// Where the blocks begin and the last one ends, and the runs of prefixes; nil where the index does not verify.
  private let places: (offsets: [Int], prefixes: [KeyPrefix])?
  private let scratch: BlockScratch
  private let blockByteCount: Int
  private let end: Int
  private var offset = LayerFormat.headerBlockByteCount

  /// Nil if there is no such file, or nothing in it can be read.
  init?(of entry: LayerEntry, in directory: StoreDirectory) {
    guard let reader = LayerReader(salvaging: entry, in: directory) else { return nil }
    self.entry = entry
    self.reader = reader
    footer = Self.footer(reader, entry)
    let sections = Self.sections(reader, entry, footer)
    dictionary = sections.dictionary
    times = sections.times
    places = sections.places
    blockByteCount = footer?.blockByteCount ?? LayerFormat.largeBlockByteCount
    end = min(footer?.blocksEnd ?? reader.byteCount, reader.byteCount)
    scratch = dictionary.withUnsafeBytes { [blockByteCount] dictionary in
      BlockScratch(dictionary: dictionary, blockByteCount: blockByteCount, inputByteCount: Self.windowByteCount)
    }
  }

  /// At most so many keys are in it.
  var keyCountMax: Int { footer?.keyCount ?? reader.byteCount / 16 }

  /// The versions above it were all kept; without a footer nobody knows, and no history is promised.
  var horizon: UInt64 { footer?.horizon ?? entry.lastSequence.rawValue }

  // MARK: Sections

  private static func footer(_ reader: LayerReader, _ entry: LayerEntry) -> LayerFooter? {
    guard let byteCount = Int(exactly: entry.byteCount), byteCount <= reader.byteCount else { return nil }
    let offset = byteCount - LayerFooter.encodedByteCount
    guard offset >= LayerFormat.headerBlockByteCount,
      let bytes = Self.bytes(reader, at: offset, count: LayerFooter.encodedByteCount)
    else { return nil }
    return bytes.withUnsafeBytes { bytes in
      guard bytes.u64(LayerFooter.encodedByteCount - 8) == entry.footerTag else { return nil }
      return try? LayerFooter(decoding: bytes, salt: entry.salt, at: offset)
    }
  }

  private static func sections(
    _ reader: LayerReader, _ entry: LayerEntry, _ footer: LayerFooter?
  ) -> (dictionary: [UInt8], times: [TimeSample], places: (offsets: [Int], prefixes: [KeyPrefix])?) {
    guard let footer else { return ([], [], nil) }
    func bytes(of section: LayerFooter.Section) -> [UInt8]? {
      guard let bytes = Self.bytes(reader, at: section.offset, count: section.byteCount) else { return nil }
      let tag = bytes.withUnsafeBytes { LayerFormat.tag($0, salt: entry.salt, at: section.offset) }
      return tag == section.tag ? bytes : nil
    }
    let times = (bytes(of: footer.times) ?? []).withUnsafeBytes { bytes in
      (0..<bytes.count / 16).map { place in
        TimeSample(sequence: bytes.u64(place * 16), milliseconds: Int64(bitPattern: bytes.u64(place * 16 + 8)))
      }
    }
    return (bytes(of: footer.dictionary) ?? [], times, bytes(of: footer.index).flatMap { Self.places($0, footer) })
  }

  private static func places(_ bytes: [UInt8], _ footer: LayerFooter) -> (offsets: [Int], prefixes: [KeyPrefix])? {
    let memory = RawMemory(byteCount: bytes.count + BlockView.slackByteCount)
    bytes.withUnsafeBytes { memory.bytes.copyMemory(from: $0) }
    do {
      let index = try LayerIndex(memory, footer: footer)
      var prefixes: [KeyPrefix] = []
      for run in 0..<index.runCount {
        prefixes += repeatElement(index.prefix(ofRun: run), count: index.blocks(ofRun: run).count)
      }
      return ((0...index.blockCount).map { index.offset(of: $0) }, prefixes)
    } catch {
      return nil
    }
  }

  private static func bytes(_ reader: LayerReader, at offset: Int, count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let isRead = bytes.withUnsafeMutableBytes { bytes in Self.read(reader, into: bytes, at: offset) }
    return isRead ? bytes : nil
  }

  private static func read(_ reader: LayerReader, into bytes: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool {
    do { try reader.read(into: bytes, at: offset) } catch { return false }
    return true
  }

  // MARK: Pieces

  /// Nil at the end of the blocks.
  func next() -> Piece? {
    guard offset < end else { return nil }
    if let (view, byteCount) = block(at: offset) {
      offset += byteCount
      return .block(view)
    }
    let start = offset
    var prefix: KeyPrefix?
    if let places, let block = places.offsets.firstIndex(where: { $0 > start }) {
      offset = min(places.offsets[block], end)
      prefix = places.prefixes[block - 1]
    } else {
      offset = search(from: start + 1)
    }
    return .lost(start..<offset, prefix)
  }

  /// The block that begins at `offset` and its length in the file, if there is one that verifies.
  private func block(at offset: Int) -> (view: BlockView, byteCount: Int)? {
    guard offset + BlockView.headsOffset <= end else { return nil }
    let header = UnsafeMutableRawBufferPointer(rebasing: scratch.input.bytes[..<BlockView.headsOffset])
    guard Self.read(reader, into: header, at: offset),
      let byteCount = BlockDecoder.storedByteCount(UnsafeRawBufferPointer(header)), offset + byteCount <= end
    else { return nil }
    scratch.reserveInput(byteCount)
    let stored = UnsafeMutableRawBufferPointer(rebasing: scratch.input.bytes[..<byteCount])
    guard Self.read(reader, into: stored, at: offset) else { return nil }
    do {
      let view = try BlockDecoder.decode(
        UnsafeRawBufferPointer(stored), salt: entry.salt, at: offset, blockByteCount: blockByteCount, scratch: scratch)
      return (view, byteCount)
    } catch {
      return nil
    }
  }

  private static let windowByteCount = 256 << 10

  /// Where the next block that verifies begins; the end of the blocks if there is none.
  private func search(from start: Int) -> Int {
    var offset = start
    let window = RawMemory(byteCount: Self.windowByteCount)
    while offset + BlockView.headsOffset <= end {
      let count = min(Self.windowByteCount, end - offset)
      let bytes = UnsafeMutableRawBufferPointer(rebasing: window.bytes[..<count])
      guard Self.read(reader, into: bytes, at: offset) else {
        // A sector that does not answer costs a page, not the rest.
        offset += min(count, 4096)
        continue
      }
      for place in 0...count - BlockView.headsOffset {
        let header = UnsafeRawBufferPointer(bytes).slice(place, BlockView.headsOffset)
        guard BlockDecoder.storedByteCount(header) != nil, block(at: offset + place) != nil else { continue }
        return offset + place
      }
      offset += count - BlockView.headsOffset + 1
    }
    return end
  }
}
