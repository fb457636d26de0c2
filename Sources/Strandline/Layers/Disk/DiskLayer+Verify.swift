internal import CStrandline
@_spi(Engine) internal import StrandlineLog

extension DiskLayer {
  /// Reads every byte of the file and compares all that it says with all else that it says.
  ///
  /// - Parameter progress: called with the bytes read since it was called last; answers whether to go on. It may sleep.
  /// - Returns: what is damaged, by place, at most one report for each block or section; empty if nothing is.
  /// - Throws: ``StoreError/ioFailed(_:)`` where the device did not answer, which says nothing of the bytes.
  func verify(progress: (Int) -> Bool = { _ in true }) throws(StoreError) -> [CorruptionReport] {
    var reports: [CorruptionReport] = []
    var failure: IOFailure?
    scrub(progress: progress) { finding in
      switch finding {
      case .damaged(let report): reports.append(report)
      case .unreadable(let found): failure = failure ?? found
      }
    }
    if let failure { throw .ioFailed(failure) }
    return reports.sorted { ($0.offset ?? 0) < ($1.offset ?? 0) }
  }

  /// As ``verify(progress:)``, with each finding as it comes; what cannot be read is one, and the walk goes on behind it.
  ///
  /// - Returns: false if `progress` ended it.
  @discardableResult
  func scrub(progress: (Int) -> Bool, note: (ScrubFinding) -> Void) -> Bool {
    let verifier = LayerVerifier(self)
    let isDone = verifier.run { byteCount in
      for finding in verifier.takeFindings() { note(finding) }
      return progress(byteCount)
    }
    for finding in verifier.takeFindings() { note(finding) }
    return isDone
  }
}

/// One verification of one layer.
private final class LayerVerifier {
  let layer: DiskLayer
  private var findings: [ScrubFinding] = []
  private var lastKey = StoreKey(KeyPrefix(rawValue: 0))
  private var lastSequence: UInt64 = 0
  /// Whether the version in front of the one at hand was seen: nothing is known of order behind a damaged block.
  private var hasLast = false
  private var versionCount = 0
  private var deleteCount = 0
  private var keyCount = 0
  private var rawByteCount = 0
  private var isComplete = true

  init(_ layer: DiskLayer) { self.layer = layer }

  /// What was found since this was asked last.
  func takeFindings() -> [ScrubFinding] {
    defer { findings = [] }
    return findings
  }

  /// False if `progress` ended it.
  func run(_ progress: (Int) -> Bool) -> Bool {
    guard checkHeader() else { return true }
    guard progress(LayerFormat.headerBlockByteCount) else { return false }
    let filter = RawMemory(byteCount: layer.footer.filterPartitionCount * LayerFormat.filterPartitionByteCount)
    var isFilterWhole = true
    for partition in 0..<layer.footer.filterPartitionCount {
      let offset = partition * LayerFormat.filterPartitionByteCount
      let target = UnsafeMutableRawBufferPointer(
        rebasing: filter.bytes[offset...].prefix(LayerFormat.filterPartitionByteCount))
      let isWhole = noting { () throws(StoreError) in _ = try layer.readFilterPartition(partition, into: target) }
      isFilterWhole = isFilterWhole && isWhole
      guard progress(LayerFormat.filterPartitionByteCount) else { return false }
    }
    for section in sections {
      guard check(section) else { return true }
      guard progress(section.byteCount) else { return false }
    }
    guard checkGaps(), checkFooter() else { return true }
    let isDone = layer.forEachBlock { block, run, outcome in
      switch outcome {
      case .success(let view): check(view, block, run, filter: isFilterWhole ? filter.start : nil)
      case .failure(let error):
        add(error)
        isComplete = false
        hasLast = false
      }
      return progress(layer.index.offset(of: block + 1) - layer.index.offset(of: block))
    }
    guard isDone else { return false }
    let counts = [versionCount, deleteCount, keyCount, rawByteCount]
    let footer = layer.footer
    let expected = [footer.versionCount, footer.deleteCount, footer.keyCount, footer.rawByteCount]
    if isComplete, counts != expected { note(nil, expected: "counts \(expected)", found: "\(counts)") }
    return true
  }

  /// Runs `body`; what it throws goes into the findings.
  private func noting(_ body: () throws(StoreError) -> Void) -> Bool {
    do throws(StoreError) {
      try body()
      return true
    } catch {
      add(error)
      return false
    }
  }

  private func add(_ error: StoreError) {
    switch error {
    case .corrupt(let report): findings.append(.damaged(report))
    case .ioFailed(let failure): findings.append(.unreadable(failure))
    default: note(nil, expected: "a layer of this version", found: "\(error)")
    }
  }

  private func note(_ offset: Int?, expected: String, found: String) {
    if case .corrupt(let report) = layer.reader.damage(at: offset, expected: expected, found: found) {
      findings.append(.damaged(report))
    }
  }

  /// Both copies, and zeros everywhere else. False if the file is not long enough to go on.
  private func checkHeader() -> Bool {
    let memory = RawMemory(byteCount: LayerFormat.headerBlockByteCount)
    guard noting({ () throws(StoreError) in try layer.reader.read(into: memory.bytes, at: 0) }) else {
      return false
    }
    let bytes = UnsafeRawBufferPointer(memory.bytes)
    var place = 0
    for offset in LayerHeader.copyOffsets {
      do throws(LayerDefect) {
        let header = try LayerHeader(decoding: bytes, at: offset)
        if header.id != layer.entry.id || header.salt != layer.entry.salt {
          note(offset, expected: "layer \(hexadecimal(layer.entry.id))", found: "layer \(hexadecimal(header.id))")
        }
      } catch {
        note(offset, expected: "a copy of the layer's header", found: error.description)
      }
      checkZeros(bytes, from: place, to: offset, at: place)
      place = offset + LayerHeader.encodedByteCount
    }
    checkZeros(bytes, from: place, to: bytes.count, at: place)
    return true
  }

  private func checkZeros(_ bytes: UnsafeRawBufferPointer, from start: Int, to end: Int, at offset: Int) {
    if start < end, !bytes.slice(start, end - start).isAllZero {
      note(offset, expected: "\(end - start) zero bytes", found: "other bytes among them")
    }
  }

  private var sections: [LayerFooter.Section] { [layer.footer.index, layer.footer.dictionary, layer.footer.times] }

  /// Sections that opening proved may have rotted since.
  private func check(_ section: LayerFooter.Section) -> Bool {
    let memory = RawMemory(byteCount: section.byteCount)
    let target = UnsafeMutableRawBufferPointer(rebasing: memory.bytes[0..<section.byteCount])
    guard noting({ () throws(StoreError) in try layer.reader.read(into: target, at: section.offset) }) else {
      return false
    }
    let computed = LayerFormat.tag(UnsafeRawBufferPointer(target), salt: layer.entry.salt, at: section.offset)
    if computed != section.tag {
      note(
        section.offset, expected: "a section of the layer",
        found: LayerDefect.wrongTag(stored: section.tag, computed: computed).description)
    }
    return true
  }

  /// What lies between sections is zero.
  private func checkGaps() -> Bool {
    let footer = layer.footer
    let gaps = [
      footer.blocksEnd..<footer.filterOffset, footer.filterOffset + footer.filterByteCount..<footer.index.offset,
      footer.index.end..<footer.dictionary.offset, footer.dictionary.end..<footer.times.offset,
    ]
    for gap in gaps where !gap.isEmpty {
      let memory = RawMemory(byteCount: gap.count)
      let target = UnsafeMutableRawBufferPointer(rebasing: memory.bytes[0..<gap.count])
      guard noting({ () throws(StoreError) in try layer.reader.read(into: target, at: gap.lowerBound) }) else {
        return false
      }
      checkZeros(UnsafeRawBufferPointer(target), from: 0, to: gap.count, at: gap.lowerBound)
    }
    return true
  }

  private func checkFooter() -> Bool {
    let offset = layer.byteCount - LayerFooter.encodedByteCount
    let memory = RawMemory(byteCount: LayerFooter.encodedByteCount)
    guard noting({ () throws(StoreError) in try layer.reader.read(into: memory.bytes, at: offset) }) else {
      return false
    }
    do throws(LayerDefect) {
      let found = try LayerFooter(
        decoding: UnsafeRawBufferPointer(memory.bytes), salt: layer.entry.salt, at: offset)
      if found != layer.footer { note(offset, expected: "the footer it had when it was opened", found: "another one") }
    } catch {
      note(offset, expected: "the layer's footer", found: error.description)
    }
    return true
  }

  /// Order, index, filter and counts of one whole block.
  private func check(_ view: BlockView, _ block: Int, _ run: Int, filter: UnsafeRawPointer?) {
    let offset = layer.index.offset(of: block)
    let key = RawMemory(byteCount: BlockView.keyRoomByteCount)
    let prefix = layer.index.prefix(ofRun: run)
    guard view.prefix == prefix else {
      return note(offset, expected: "versions of prefix \(prefix.rawValue)", found: "prefix \(view.prefix.rawValue)")
    }
    var isInOrder = true
    var isInFilter = true
    for index in 0..<view.count {
      let body = view.body(index)
      let bytes = UnsafeRawBufferPointer(start: key.start, count: view.writeKey(index, body, to: key.start))
      let found = KeyView(prefix: prefix, bytes: bytes)
      if index == 0 { checkPlace(found, view.sequence(0), block, run, at: offset) }
      let order = hasLast ? lastKey.withView { KeyView.compare($0, found) } : -1
      isInOrder = isInOrder && (order < 0 || order == 0 && view.sequence(index) < lastSequence)
      versionCount += 1
      if order != 0 {
        keyCount += 1
        if let filter {
          let hash = KeyHash.of(found, seed: layer.footer.keySeed)
          let line = KeyFilter.line(of: hash, lineCount: layer.footer.filterLineCount) * KeyFilter.lineByteCount
          isInFilter = isInFilter && KeyFilter.mayContain(hash, in: filter + line)
        }
        lastKey.prefix = prefix
        lastKey.bytes.replaceSubrange(0..., with: bytes)
      }
      lastSequence = view.sequence(index)
      hasLast = true
      if view.isDelete(index) { deleteCount += 1 }
      rawByteCount += 3 + bytes.count + body.value.count
    }
    if !isInOrder { note(offset, expected: "versions in order", found: "others in front of them") }
    if !isInFilter { note(offset, expected: "keys that the filter knows", found: "one that it does not") }
  }

  private func checkPlace(_ key: KeyView, _ sequence: UInt64, _ block: Int, _ run: Int, at offset: Int) {
    let isFirst = block == layer.index.blocks(ofRun: run).lowerBound
    guard isFirst || hasLast else { return }
    let last = isFirst ? nil : lastKey.bytes
    let first = (key: key.bytes, sequence: sequence)
    let fits =
      layer.index.head(of: block) == keyHead(key.bytes)
      && (last.map { last in
        last.withUnsafeBytes { layer.index.separates(ofRun: run, block: block, first: first, after: $0) }
      } ?? layer.index.separates(ofRun: run, block: block, first: first, after: nil))
    if !fits { note(offset, expected: "the block that the index describes", found: "one that begins with another key") }
  }
}
