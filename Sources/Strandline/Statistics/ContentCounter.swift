@_spi(Engine) internal import StrandlineLog

/// Adds up what layers hold, by family and table.
struct ContentCounter {
  private let tables: Tables
  private var contents: [KeyPrefix: StoreStatistics.Content] = [:]

  init(tables: Tables) { self.tables = tables }

  /// In the order of the keys.
  var sorted: [StoreStatistics.Content] { contents.sorted { $0.key < $1.key }.map(\.value) }

  private mutating func change(_ prefix: KeyPrefix, _ body: (inout StoreStatistics.Content) -> Void) {
    let family = Family(rawValue: prefix.familyNumber)
    let hasTable = family == .row || family == .index
    var content =
      contents[prefix]
      ?? StoreStatistics.Content(
        family: family.map { "\($0)" } ?? "family \(prefix.familyNumber)",
        table: hasTable ? tables.numbered(prefix.table)?.name : nil)
    body(&content)
    contents[prefix] = content
  }

  /// Counts the versions of a memory layer one by one; they are bounded by its size.
  mutating func count(
    _ layer: MemoryLayer
  ) -> (versions: UInt64, deletes: UInt64, sequences: ClosedRange<SequenceNumber>?) {
    var versions: UInt64 = 0
    var deletes: UInt64 = 0
    var range: (first: UInt64, last: UInt64)?
    guard !layer.isEmpty else { return (0, 0, nil) }
    let cursor = layer.makeCursor()
    StoreKey(KeyPrefix(rawValue: 0)).withView { start in cursor.seek(to: start) }
    while let version = cursor.current {
      versions += 1
      if version.value == nil { deletes += 1 }
      range = (min(range?.first ?? .max, version.sequence), max(range?.last ?? 0, version.sequence))
      change(version.key.prefix) { content in
        content.versionCount += 1
        if version.value == nil { content.deleteCount += 1 }
        content.byteCount += UInt64(3 + version.key.bytes.count + (version.value?.count ?? 0))
      }
      cursor.advance()
    }
    return (versions, deletes, range.map { SequenceNumber($0.first)...SequenceNumber($0.last) })
  }

  /// Takes what the layer's index says.
  mutating func count(_ layer: DiskLayer) {
    for part in layer.prefixStatistics {
      change(part.prefix) { content in
        content.versionCount += part.versionCount
        content.deleteCount += part.deleteCount
        content.byteCount += part.rawByteCount
      }
    }
  }

  /// Counts what a view shows.
  mutating func countLive(_ snapshot: Snapshot, _ progress: (UInt64) -> Void) throws(StoreError) {
    for prefix in contents.keys { change(prefix) { $0.live = .init() } }
    let everything = KeyRange(lower: StoreKey(KeyPrefix(rawValue: 0)), upper: nil)
    let cursor = snapshot.visible(in: everything)
    var seen: UInt64 = 0
    // Keys of one prefix stand together: what is counted goes to the dictionary once for each.
    var current: (prefix: KeyPrefix, live: StoreStatistics.Content.Live)?
    while let version = try cursor.next() {
      if current?.prefix != version.key.prefix {
        note(current)
        current = (version.key.prefix, .init())
      }
      current?.live.count += 1
      current?.live.byteCount += UInt64(3 + version.key.bytes.count + (version.value?.count ?? 0))
      seen += 1
      if seen % 10_000 == 0 { progress(seen) }
    }
    note(current)
  }

  private mutating func note(_ counted: (prefix: KeyPrefix, live: StoreStatistics.Content.Live)?) {
    guard let counted else { return }
    change(counted.prefix) { $0.live = counted.live }
  }
}
