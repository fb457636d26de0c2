/// `append.*`, `load.*`: durable commits into an empty store, as the logs do them.
struct EngineAppend: StoreWork {
  let work: AppendWork

  func prepare(_ stage: EngineStage) {}

  func sample(_ stage: EngineStage) throws -> Sample {
    let corpus = CorpusCache.rows(stage.rowCount)
    let commits = work.commitCount(rows: stage.rowCount)
    let latencies = LatencyList(count: commits)
    defer { latencies.deallocate() }
    return try stage.site.withEmptyDirectory { path in
      let written = WrittenBytes()
      let engine = try stage.open(path)
      let seconds = try runThreads(work.writers) { writer in
        for commit in stride(from: writer, to: commits, by: work.writers) {
          let begun = monotonicNanoseconds()
          try engine.commit { transaction in
            for index in work.recordRange(ofCommit: commit, rows: stage.rowCount) {
              try transaction.put(corpus[index])
            }
          }
          latencies[commit] = monotonicNanoseconds() - begun
        }
      }
      var sample = Sample(
        work, rows: stage.rowCount, seconds: seconds, latencies: latencies.array, resultHash: nil)
      sample.addPeakResident(held: corpus.byteCount)
      sample.resultHash = try StoreState(engine).hash
      try engine.close()
      written.add(to: &sample, logical: corpus.byteCount)
      sample[.onDisk] = Double(try byteCount(under: path))
      return sample
    }
  }
}
