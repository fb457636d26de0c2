internal import Glibc
internal import StrandlineLog

/// Our log, reset: loaded, some one-row commits, one reset, and the wait until the space is given back.
struct StrandlineReset: Subject {
  let name = SubjectName.strandline

  private static let commitCount = 200

  func prepare(_ site: Site) { _ = CorpusCache.rows(site.rowCount) }

  func sample(_ site: Site) throws -> Sample {
    let corpus = CorpusCache.rows(site.rowCount)
    let path = try site.freshPath()
    defer { try? removeTree(path) }
    let log = try Log.open(at: path)
    try StrandlineStore.append(corpus, to: log, recordsPerCommit: 1000)

    var latencies: [UInt64] = []
    for index in 0..<min(Self.commitCount, corpus.count) {
      let begun = monotonicNanoseconds()
      var draft = log.draft()
      try draft.append(corpus[index])
      try log.append(draft)
      latencies.append(monotonicNanoseconds() - begun)
    }
    let onDisk = try byteCount(under: path)

    let begun = monotonicNanoseconds()
    try log.reset()
    let resetSeconds = seconds(since: begun)
    let spaceSeconds = try waitForSpace(path, log, since: begun)
    try log.close()

    var sample = Sample()
    sample[.seconds] = resetSeconds
    sample.addLatencies(latencies)
    sample[.onDisk] = Double(onDisk)
    sample[.spaceGivenBack] = spaceSeconds
    if let commit = sample[.p50] { sample[.ratio] = commit / resetSeconds }
    return sample
  }

  /// Until the segments in front of the reset are gone, at most ten seconds.
  private func waitForSpace(_ path: String, _ log: Log, since begun: UInt64) throws -> Double {
    while seconds(since: begun) < 10 {
      let status = log.status
      let segments = try names(in: path).count { $0.hasSuffix(".log") }
      if segments <= Int(status.lastOrdinal - status.firstLiveOrdinal) + 1 { break }
      usleep(500)
    }
    return seconds(since: begun)
  }
}
