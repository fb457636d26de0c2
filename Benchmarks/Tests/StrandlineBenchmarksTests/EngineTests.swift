import Testing

@testable import StrandlineBenchmarks

/// What every bench takes for granted of an engine, on each of them.
@Suite(.serialized) struct EngineTests {
  private struct Refused: Error {}

  private let value = UnsafeMutableRawPointer.allocate(byteCount: RowBytes.valueByteCountMax, alignment: 8)

  /// Runs `body` with an empty directory.
  private func withDirectory(_ body: (String) throws -> Void) throws {
    let path = try Site(rowCount: 0, root: ".build/strandline-bench/engines").freshPath()
    try makeDirectories(path)
    defer { try? removeTree(path) }
    try body(path)
  }

  private func open(_ name: String, _ path: String) throws -> any StoreEngine {
    let kind = try #require(EngineKind.all.first { $0.name.text == name })
    return try kind.open(path, EngineSettings(cacheByteCount: 16 << 20))
  }

  private func put(_ rows: RowBatch, into engine: any StoreEngine) throws {
    try engine.commit { transaction in
      for place in 0..<rows.count { try transaction.put(rows[place]) }
    }
  }

  private func read(_ key: UnsafeRawPointer, _ reader: any EngineReader) throws -> [UInt8]? {
    try reader.read(key, into: value).map { Array(UnsafeRawBufferPointer(start: value, count: $0)) }
  }

  @Test(arguments: EngineKind.all.map(\.name.text))
  func `rows come back as they were written, also by another opening`(name: String) throws {
    try withDirectory { path in
      let rows = RowBatch(indices: Array(0..<500))
      var engine = try open(name, path)
      try put(rows, into: engine)
      for _ in 0..<2 {
        let reader = try engine.reader()
        for place in 0..<rows.count {
          #expect(try read(rows.key(place), reader) == Array(RowBytes.value(rows[place])))
        }
        let other = RowBatch(indices: [500])
        #expect(try read(other.key(0), reader) == nil)
        try reader.close()
        try engine.compact()
        try engine.close()
        engine = try open(name, path)
      }
      try engine.close()
    }
  }

  @Test(arguments: EngineKind.all.map(\.name.text))
  func `scans and seeks go by the order of keys`(name: String) throws {
    try withDirectory { path in
      let corpus = RowCorpus(CorpusShape(range: 0..<300), seed: Site.seed)
      let order = RowOrder.byKey(corpus)
      let engine = try open(name, path)
      try put(RowBatch(indices: Array(0..<300)), into: engine)
      // Neither is a row: a scan must pass them by.
      try engine.commit { transaction in
        try transaction.putPending(corpus[0].baseAddress!, sequence: 1, change: RowBytes.value(corpus[1]))
      }
      let reader = try engine.reader()
      func keys(_ scan: (RowVisitor) throws -> Void) throws -> [[UInt8]] {
        var keys: [[UInt8]] = []
        try scan { key, _ in
          keys.append(Array(UnsafeRawBufferPointer(start: key, count: RowBytes.keyByteCount)))
          return true
        }
        return keys
      }
      let expected = order.map { Array(corpus[$0].prefix(RowBytes.keyByteCount)) }
      #expect(try keys { try reader.scan(from: nil, $0) } == expected)
      #expect(try keys { try reader.scanBackwards($0) } == expected.reversed())
      #expect(try keys { try reader.scan(from: corpus[order[100]].baseAddress!, $0) } == Array(expected[100...]))
      var visits = 0
      try reader.scan(from: nil) { _, _ in
        visits += 1
        return visits < 3
      }
      #expect(visits == 3)
      try reader.close()
      try engine.close()
    }
  }

  @Test(arguments: EngineKind.all.map(\.name.text))
  func `a commit replaces, deletes, or leaves nothing`(name: String) throws {
    try withDirectory { path in
      let engine = try open(name, path)
      let first = RowBatch(indices: [0, 1])
      let second = RowBatch(indices: [0, 1, 2], version: 1)
      try put(first, into: engine)
      try engine.commit { transaction in
        try transaction.put(second[0])
        try transaction.delete(second.key(1))
      }
      #expect(throws: Refused.self) {
        try engine.commit { transaction in
          try transaction.put(second[2])
          throw Refused()
        }
      }
      let reader = try engine.reader()
      #expect(try read(first.key(0), reader) == Array(RowBytes.value(second[0])))
      #expect(try read(first.key(1), reader) == nil)
      #expect(try read(second.key(2), reader) == nil)
      try reader.close()
      try engine.close()
    }
  }

  @Test(arguments: EngineKind.all.map(\.name.text))
  func `the outbox finds what waits for a row, and a reset empties all`(name: String) throws {
    try withDirectory { path in
      let engine = try open(name, path)
      let rows = RowBatch(indices: Array(0..<100))
      try put(rows, into: engine)
      let changes = RowBatch(indices: [7, 300], version: 1)
      try engine.commit { transaction in
        try transaction.putPending(changes.key(0), sequence: 300, change: RowBytes.value(changes[1]))
        try transaction.putPending(rows.key(8), sequence: 2, change: RowBytes.value(rows[8]))
      }
      try engine.commit { transaction in
        try transaction.putPending(changes.key(0), sequence: 300, change: RowBytes.value(changes[0]))
      }
      try engine.commit { transaction in
        let pending = try transaction.pending(rows.key(7), into: value)
        #expect(pending?.sequence == 300)
        let bytes = Array(UnsafeRawBufferPointer(start: value, count: pending?.byteCount ?? 0))
        #expect(bytes == Array(RowBytes.value(changes[0])))
        #expect(try transaction.pending(rows.key(9), into: value) == nil)
      }
      let reader = try engine.reader()
      var sequences: [UInt64] = []
      try reader.scanOutbox { sequence, _ in sequences.append(sequence) }
      #expect(sequences == [2, 300])
      try reader.close()

      try engine.reset()
      #expect(try StoreState(engine).rowCount == 0)
      #expect(try StoreState(engine).outboxCount == 0)
      try put(RowBatch(indices: [5]), into: engine)
      #expect(try StoreState(engine).rowCount == 1)
      try engine.close()
    }
  }

  @Test(arguments: EngineKind.all.map(\.name.text))
  func `a reader sees what was committed before it was refreshed`(name: String) throws {
    try withDirectory { path in
      let engine = try open(name, path)
      let rows = RowBatch(indices: [0, 1])
      try put(RowBatch(indices: [0]), into: engine)
      let reader = try engine.reader()
      #expect(try read(rows.key(0), reader) != nil)
      try put(rows, into: engine)
      try reader.refresh()
      #expect(try read(rows.key(1), reader) != nil)
      try reader.close()
      try engine.close()
    }
  }
}
