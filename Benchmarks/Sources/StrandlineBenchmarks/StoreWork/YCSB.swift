internal import CReference

/// `ycsb.a` to `.f`: the core workloads of the Yahoo! Cloud Serving Benchmark on the rows of the benches, eight threads.
///
/// A written row is a durable commit of its own. Rows are picked by Zipf's law, in D near the newest. What is read hangs
/// on how threads meet; so the result is what the store holds at the end, and how many reads found their row: all must.
///
/// - SeeAlso: Cooper et al., "Benchmarking Cloud Serving Systems with YCSB", SoCC 2010.
struct YCSB: StoreWork {
  enum Letter: String, CaseIterable, Sendable { case a, b, c, d, e, f }

  let letter: Letter
  static let threadCount = 8
  private static let scanRowCountMax = 100

  func prepare(_ stage: EngineStage) throws { _ = try stage.compacted() }

  func sample(_ stage: EngineStage) throws -> Sample {
    let path = try stage.compacted()
    let plans = plans(stage)
    let latencies = LatencyList(count: plans.reduce(0) { $0 + $1.steps.count })
    defer { latencies.deallocate() }
    return try stage.site.withCopy(of: path) { copy in
      let written = WrittenBytes()
      let engine = try stage.open(copy)
      let warm = try engine.reader()
      try warm.scan(from: nil) { _, _ in true }
      try warm.close()
      let found = LatencyList(count: Self.threadCount)
      defer { found.deallocate() }
      let perThread = plans[0].steps.count
      let seconds = try runThreads(Self.threadCount) { thread in
        let reader = try engine.reader()
        let plan = plans[thread]
        var count: UInt64 = 0
        let value = UnsafeMutableRawPointer.allocate(byteCount: RowBytes.valueByteCountMax, alignment: 8)
        defer { value.deallocate() }
        for (place, step) in plan.steps.enumerated() {
          let begun = monotonicNanoseconds()
          if try Self.perform(step, plan.rows[place], engine, reader, value) { count += 1 }
          latencies[thread * perThread + place] = monotonicNanoseconds() - begun
        }
        found[thread] = count
        try reader.close()
      }
      let operations = plans.reduce(0) { $0 + $1.steps.count }
      var sample = Sample()
      sample[.operationsPerSecond] = Double(operations) / seconds
      sample[.seconds] = seconds
      sample.addLatencies(latencies.array)
      sample.addPeakResident(held: plans.reduce(0) { $0 + $1.rows.byteCount })
      sample.resultHash = try StoreState(engine).hash &+ SplitMix64.mix(found.array.reduce(0, +))
      try engine.close()
      written.add(to: &sample, logical: plans.reduce(0) { $0 + $1.writtenByteCount })
      return sample
    }
  }

  private enum Step {
    case read, write, readAndWrite
    case scan(rowCount: Int)
  }

  private struct Plan: Sendable {
    var steps: [Step]
    var rows: RowBatch

    var writtenByteCount: Int {
      steps.indices.reduce(0) { sum, place in
        switch steps[place] {
        case .write, .readAndWrite: sum + rows[place].count
        case .read, .scan: sum
        }
      }
    }
  }

  /// Whether a row was found, or a write done.
  private static func perform(
    _ step: Step, _ row: UnsafeRawBufferPointer, _ engine: any StoreEngine, _ reader: any EngineReader,
    _ value: UnsafeMutableRawPointer
  ) throws -> Bool {
    var values = ValueHash()
    let key = row.baseAddress!
    switch step {
    case .read:
      try reader.refresh()
      guard let count = try reader.read(key, into: value) else { return false }
      values.add(value, count)
    case .write:
      try engine.commit { transaction in try transaction.put(row) }
      return true
    case .readAndWrite:
      try engine.commit { transaction in
        if let count = try transaction.read(key, into: value) { values.add(value, count) }
        try transaction.put(row)
      }
    case .scan(let rowCount):
      try reader.refresh()
      try reader.scan(from: key) { _, bytes in
        values.add(bytes.baseAddress, bytes.count)
        return values.count < rowCount
      }
    }
    return values.count > 0
  }

  // MARK: What each thread does

  private func plans(_ stage: EngineStage) -> [Plan] {
    let zipfian = Zipfian(count: stage.rowCount)
    let perThread = max(50, min(stage.rowCount / 20, operationsPerThread))
    return (0..<Self.threadCount).map { plan($0, perThread, zipfian, stage.rowCount) }
  }

  /// So many that the slowest peer takes a few seconds.
  private var operationsPerThread: Int {
    switch letter {
    case .a, .f: 2000
    case .b, .d: 8000
    case .c: 50_000
    case .e: 4000
    }
  }

  private func plan(_ thread: Int, _ count: Int, _ zipfian: Zipfian, _ rowCount: Int) -> Plan {
    var random = SplitMix64(state: 71 &+ UInt64(thread))
    var steps: [Step] = []
    var rows: [RowBatch.Name] = []
    var inserted = 0
    func insert() {
      steps.append(.write)
      rows.append(RowBatch.Name(index: rowCount + thread + inserted * Self.threadCount))
      inserted += 1
    }
    for _ in 0..<count {
      let share = Int(random.next() % 100)
      let picked = zipfian.scrambled(&random)
      switch letter {
      case .a, .b:
        let isRead = share < (letter == .a ? 50 : 95)
        steps.append(isRead ? .read : .write)
        rows.append(RowBatch.Name(index: picked, version: 1))
      case .c:
        steps.append(.read)
        rows.append(RowBatch.Name(index: picked))
      case .d:
        if share >= 95 {
          insert()
        } else {
          // Its own inserts are the newest it can count on; then the last of the loaded rows.
          let age = zipfian.rank(&random)
          let index =
            age < inserted
            ? rowCount + thread + (inserted - 1 - age) * Self.threadCount : rowCount - 1 - (age - inserted)
          steps.append(.read)
          rows.append(RowBatch.Name(index: max(0, index)))
        }
      case .e:
        if share >= 95 {
          insert()
        } else {
          steps.append(.scan(rowCount: 1 + Int(random.next() % UInt64(Self.scanRowCountMax))))
          rows.append(RowBatch.Name(index: picked))
        }
      case .f:
        steps.append(share < 50 ? .read : .readAndWrite)
        rows.append(RowBatch.Name(index: picked, version: 1))
      }
    }
    return Plan(steps: steps, rows: RowBatch(rows))
  }
}
