import StrandlineTestSupport
import Testing

@testable import Strandline
@testable @_spi(Engine) import StrandlineLog

/// The cache is bounded, keeps what is read often, and is right whoever reads beside whom.
struct BlockCacheTests {
  private static func layer(
    _ cache: BlockCache, rows: Int, seed: UInt64
  ) throws -> (LayerBench, LayerModel, DiskLayer) {
    var random = SeededGenerator(seed: seed)
    let model = LayerModel(LayerShape.uuids(rows).make(&random))
    let bench = LayerBench()
    let entry = try bench.write(model, dictionary: .given(LayerShape.text(3000, &random)), seed: seed)
    return (bench, model, try bench.open(entry, cache: cache))
  }

  @Test(arguments: [0, 10_000, 100_000, 1 << 20, 64 << 20])
  func `the cache stays within its bound and gives its memory back with the layer`(byteCountMax: Int) throws {
    let cache = BlockCache(byteCountMax: byteCountMax)
    do {
      let (bench, model, layer) = try Self.layer(cache, rows: 4000, seed: 41)
      var buffer = ValueBuffer()
      for _ in 0..<3 {
        for version in model.versions {
          _ = try bench.find(layer, version.key, &buffer)
          #expect(cache.statistics.byteCount <= byteCountMax)
        }
      }
      let statistics = cache.statistics
      #expect(statistics.hitCount + statistics.missCount == UInt64(model.versions.count * 3))
      if byteCountMax >= 1 << 20 { #expect(statistics.evictedCount == 0 && statistics.blockCount > 100) }
      if byteCountMax == 0 { #expect(statistics.blockCount == 0) }
    }
    #expect(cache.statistics.blockCount == 0 && cache.statistics.byteCount == 0)
  }

  @Test func `what is read often stays while everything is read once`() throws {
    let cache = BlockCache(byteCountMax: 120_000)
    let (bench, model, layer) = try Self.layer(cache, rows: 6000, seed: 42)
    var buffer = ValueBuffer()
    let hot = model.versions[100].key
    for _ in 0..<4 { _ = try bench.find(layer, hot, &buffer) }
    var missed = 0
    for (number, version) in model.versions.enumerated() where number % 20 == 0 {
      _ = try bench.find(layer, version.key, &buffer)
      let before = cache.statistics.missCount
      _ = try bench.find(layer, hot, &buffer)
      missed += Int(cache.statistics.missCount - before)
    }
    #expect(missed <= 4, "\(missed) misses")
  }

  /// Many cursors in a cache too small for them, each of which must see the layer as if it were alone.
  @Test(arguments: [16_000, 80_000, 64 << 20])
  func `cursors go through cached blocks as through others`(byteCountMax: Int) throws {
    let seed: UInt64 = 44
    let cache = BlockCache(byteCountMax: byteCountMax)
    do {
      let (bench, model, layer) = try Self.layer(cache, rows: 3000, seed: seed)
      var random = SeededGenerator(seed: seed)
      var buffer = ValueBuffer()
      var cursors = (0..<12).map { number in (cursor: layer.makeCursor(usesCache: number % 4 != 3), place: -1) }
      for step in 0..<20_000 {
        let number = Int.random(in: 0..<cursors.count, using: &random)
        let cursor = cursors[number].cursor
        switch Int.random(in: 0..<20, using: &random) {
        case 0:
          let place = Int.random(in: 0..<model.versions.count, using: &random)
          try model.versions[place].key.withView { (key) throws(StoreError) in try cursor.seek(to: key) }
          cursors[number].place = place
        case 1:
          let place = Int.random(in: 0..<model.versions.count, using: &random)
          try model.versions[place].key.withView { (key) throws(StoreError) in try cursor.seekBack(before: key) }
          cursors[number].place = place - 1
        case 2:
          // A new one in its place: pins go with a cursor.
          cursors[number] = (layer.makeCursor(usesCache: true), -1)
        case 3...9:
          try cursor.retreat()
          cursors[number].place = max(-1, cursors[number].place - 1)
        case 10:
          let version = model.versions.randomElement(using: &random)!
          #expect(try bench.find(layer, version.key, &buffer).1 == version.value)
        default:
          try cursor.advance()
          cursors[number].place = min(model.versions.count, cursors[number].place + 1)
        }
        // All of them: what one does must not pull the block away under another.
        for (cursor, place) in step % 8 == 0 ? cursors : [cursors[number]] {
          let expected = model.versions.indices.contains(place) ? model.versions[place] : nil
          #expect(cursor.current.map { OwnedVersion(copying: $0) } == expected, "seed \(seed), step \(step)")
        }
        #expect(cache.statistics.byteCount <= byteCountMax)
      }
      #expect(cache.statistics.hitCount > 100)
    }
    #expect(cache.statistics.blockCount == 0 && cache.statistics.byteCount == 0)
  }

  @Test func `a scan takes room that nobody has, and gives it up first`() throws {
    let cache = BlockCache(byteCountMax: 120_000)
    let (bench, model, layer) = try Self.layer(cache, rows: 6000, seed: 45)
    var buffer = ValueBuffer()
    let hot = model.versions[100].key
    for _ in 0..<3 { _ = try bench.find(layer, hot, &buffer) }
    func scan() throws {
      let cursor = layer.makeCursor(usesCache: true)
      var seen = 0
      try cursor.advance()
      while cursor.current != nil {
        seen += 1
        try cursor.advance()
      }
      #expect(seen == model.versions.count)
    }
    try scan()
    let filled = cache.statistics
    #expect(filled.evictedCount == 0 && filled.byteCount > 60_000)
    try scan()
    #expect(cache.statistics.evictedCount == 0 && cache.statistics.hitCount > filled.hitCount)
    let before = cache.statistics.missCount
    _ = try bench.find(layer, hot, &buffer)
    #expect(cache.statistics.missCount == before)
    // Merges leave it as it is.
    let merged = layer.makeCursor()
    try merged.seekBack(before: nil)
    #expect(cache.statistics.missCount == before)
  }

  @Test func `readers beside each other read what one reads alone`() throws {
    let seed: UInt64 = 43
    let cache = BlockCache(byteCountMax: 80_000)
    let (bench, model, layer) = try Self.layer(cache, rows: 3000, seed: seed)
    let (other, otherModel, _) = try Self.layer(cache, rows: 500, seed: seed + 1)
    let otherEntry = try other.write(otherModel, seed: 9)
    withThreads(4) { thread in
      var random = SeededGenerator(seed: seed &+ UInt64(thread) &* 100)
      var buffer = ValueBuffer()
      do {
        if thread == 3 {
          for _ in 0..<20 {
            let layer = try other.open(otherEntry, cache: cache)
            for version in otherModel.versions.prefix(100) {
              #expect(try other.find(layer, version.key, &buffer).1 == version.value)
            }
            let cursor = layer.makeCursor(usesCache: true)
            try cursor.seekBack(before: nil)
            #expect(cursor.current.map { OwnedVersion(copying: $0) } == otherModel.versions.last)
          }
        } else {
          for _ in 0..<4000 {
            let version = model.versions.randomElement(using: &random)!
            let found = try bench.find(layer, version.key, at: version.sequence, &buffer)
            #expect(found.1 == version.value, "seed \(seed), thread \(thread)")
            // A few steps from there, the first block's pin beside the evictions of the others.
            let cursor = layer.makeCursor(usesCache: true)
            try version.key.withView { (key) throws(StoreError) in try cursor.seek(to: key) }
            var place = model.index(from: version.key)
            for _ in 0..<random.next() % 40 {
              let expected = place < model.versions.count ? model.versions[place] : nil
              #expect(cursor.current.map { OwnedVersion(copying: $0) } == expected, "seed \(seed), thread \(thread)")
              try cursor.advance()
              place += 1
            }
          }
        }
      } catch {
        Issue.record("\(error)")
      }
    }
  }
}
