internal import CReference

/// The log loop in C, writing.
struct CReferenceAppend: Subject {
  let work: AppendWork
  let name = SubjectName.cReference

  func prepare(_ site: Site) { _ = CorpusCache.rows(site.rowCount) }

  func sample(_ site: Site) throws -> Sample {
    let corpus = CorpusCache.rows(site.rowCount)
    let path = try site.freshPath()
    defer { try? removeTree(path) }
    var latencies = [UInt64](repeating: 0, count: work.commitCount(rows: site.rowCount))
    var seconds = 0.0
    let failure = reference_append(path, corpus.rows, work.plan, &latencies, &seconds)
    try check(failure, "append", path)

    var found = reference_recovery()
    try check(reference_recover(path, UInt64(site.rowCount), 1, true, &found), "recover", path)
    var sample = Sample(
      work, rows: site.rowCount, seconds: seconds, latencies: latencies, resultHash: found.state_hash)
    sample[.onDisk] = Double(found.file_byte_count)
    return sample
  }
}

/// One thread that knows nothing but pwrite and fdatasync: commits of the C reference's size over zeros.
struct RawAppend: Subject {
  let work: AppendWork
  let name = SubjectName.rawIO

  func sample(_ site: Site) throws -> Sample {
    let path = try site.freshPath()
    defer { try? removeTree(path) }
    let commits = work.commitCount(rows: site.rowCount)
    // 163 bytes a row and its length; 0.77 of that where LZ4 has its turn.
    let raw = Double(work.recordsPerCommit) * 165
    let byteCount = raw < 4096 ? raw + 32 : raw * 0.77 + 64
    var latencies = [UInt64](repeating: 0, count: commits)
    var seconds = 0.0
    let failure = reference_raw_append(
      path, UInt64(commits), UInt64(byteCount), work.isSynced, &latencies, &seconds)
    try check(failure, "append", path)
    return Sample(work, rows: site.rowCount, seconds: seconds, latencies: latencies, resultHash: nil)
  }
}

extension AppendWork {
  var plan: reference_append_plan {
    reference_append_plan(
      rows_per_commit: UInt32(recordsPerCommit), thread_count: UInt32(writers), synced: isSynced)
  }
}

func check(_ failure: Int32, _ operation: String, _ path: String) throws {
  guard failure == 0 else { throw BenchmarkError.ioFailed(operation: operation, path: path, errno: failure) }
}
