internal import CReference
internal import Glibc
internal import StrandlineLog

/// Our log, writing: the synchronous form on threads.
struct StrandlineAppend: Subject {
  let work: AppendWork
  let name = SubjectName.strandline

  func prepare(_ site: Site) { _ = CorpusCache.rows(site.rowCount) }

  func sample(_ site: Site) throws -> Sample {
    try StrandlineStore.measureAppend(work, site) { log, latencies in
      let corpus = CorpusCache.rows(site.rowCount)
      let commits = work.commitCount(rows: site.rowCount)
      let durability: Durability = work.isSynced ? .synced : .buffered
      let seconds = try runThreads(work.writers) { writer in
        for commit in stride(from: writer, to: commits, by: work.writers) {
          let begun = monotonicNanoseconds()
          var draft = log.draft()
          for index in work.recordRange(ofCommit: commit, rows: site.rowCount) { try draft.append(corpus[index]) }
          try log.append(draft, durability: durability)
          latencies[commit] = monotonicNanoseconds() - begun
        }
      }
      guard !work.isSynced else { return seconds }
      let begun = monotonicNanoseconds()
      try log.sync()
      return seconds + StrandlineBenchmarks.seconds(since: begun)
    }
  }
}

/// Our log, writing: the asynchronous form, as many tasks as the other has threads.
struct StrandlineAsyncAppend: Subject {
  let work: AppendWork
  let name = SubjectName.strandlineAsync

  func prepare(_ site: Site) { _ = CorpusCache.rows(site.rowCount) }

  func sample(_ site: Site) throws -> Sample {
    try StrandlineStore.measureAppend(work, site) { log, latencies in
      let corpus = CorpusCache.rows(site.rowCount)
      let commits = work.commitCount(rows: site.rowCount)
      let durability: Durability = work.isSynced ? .synced : .buffered
      return try waitFor {
        let begun = monotonicNanoseconds()
        try await withThrowingTaskGroup(of: Void.self) { group in
          for writer in 0..<work.writers {
            group.addTask {
              for commit in stride(from: writer, to: commits, by: work.writers) {
                let begun = monotonicNanoseconds()
                var draft = log.draft()
                for index in work.recordRange(ofCommit: commit, rows: site.rowCount) {
                  try draft.append(corpus[index])
                }
                try await log.append(draft, durability: durability)
                latencies[commit] = monotonicNanoseconds() - begun
              }
            }
          }
          try await group.waitForAll()
        }
        if !work.isSynced { try await log.sync() }
        return seconds(since: begun)
      }
    }
  }
}

/// A latency for each commit; every commit is one writer's.
struct LatencyList: @unchecked Sendable {
  private let values: UnsafeMutableBufferPointer<UInt64>

  init(count: Int) {
    values = .allocate(capacity: count)
    values.initialize(repeating: 0)
  }

  func deallocate() { values.deallocate() }

  var array: [UInt64] { Array(values) }

  subscript(commit: Int) -> UInt64 {
    get { values[commit] }
    nonmutating set { values[commit] = newValue }
  }
}
