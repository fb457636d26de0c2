internal import CReference

/// `open.firstRead`, `open.afterKill`, `open.history`: from the call to the first row read, copied out and hashed.
struct OpenFirstRead: StoreWork {
  enum Start: Hashable, Sendable {
    case compacted
    /// The store of a killed process, everything in its log.
    case killed
    /// Rows that were written so many times over.
    case rewritten(Int)
  }

  var start = Start.compacted

  private var isKilled: Bool { start == .killed }

  var writesAtRandom: Bool { isKilled }

  func prepare(_ stage: EngineStage) throws { _ = try store(stage) }

  func sample(_ stage: EngineStage) throws -> Sample {
    let path = try store(stage)
    guard isKilled, !stage.kind.leavesKilledStore else {
      try warmCache(under: path)
      return try open(path, stage)
    }
    return try stage.site.withCopy(of: path) { copy in try open(copy, stage) }
  }

  private func store(_ stage: EngineStage) throws -> String {
    switch start {
    case .compacted: try stage.compacted()
    case .killed: try stage.killed()
    case .rewritten(let foldCount): try stage.rewritten(foldCount)
    }
  }

  private func open(_ path: String, _ stage: EngineStage) throws -> Sample {
    let keys = RowBatch(indices: [stage.rowCount / 3], keysOnly: true)
    let value = UnsafeMutableRawPointer.allocate(byteCount: RowBytes.valueByteCountMax, alignment: 8)
    defer { value.deallocate() }

    let begun = monotonicNanoseconds()
    let engine = try stage.open(path, keepsAllInLog: isKilled)
    let opened = monotonicNanoseconds()
    let resident = (ProcessUsage.residentByteCount, ProcessUsage.anonymousByteCount)
    let measured = monotonicNanoseconds()
    let reader = try engine.reader()
    guard let count = try reader.read(keys.key(0), into: value) else {
      throw BenchmarkError.finding("\(stage.kind.name.text): a row is missing after opening")
    }
    let hash = reference_xxh3(value, count)
    let seconds = Double(monotonicNanoseconds() - measured + opened - begun) / 1e9

    var sample = Sample()
    sample[.seconds] = seconds
    sample.addPeakResident()
    sample[.residentOpened] = resident.0.map(Double.init)
    sample[.anonymousOpened] = resident.1.map(Double.init)
    sample[.onDisk] = Double(try byteCount(under: path))
    try reader.close()
    let state = isKilled ? try StoreState(engine).hash : 0
    try engine.close()
    sample.resultHash = hash &+ state
    return sample
  }
}
