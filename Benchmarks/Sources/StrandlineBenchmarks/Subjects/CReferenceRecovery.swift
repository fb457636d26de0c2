internal import CReference

/// The log loop in C, reading: one file, all rows decompressed in memory, a flat hash table over them.
struct CReferenceRecovery: Subject {
  let work: RecoveryWork
  let name = SubjectName.cReference

  func prepare(_ site: Site) throws { _ = try Self.file(work, site) }

  func sample(_ site: Site) throws -> Sample {
    let path = try Self.file(work, site)
    if work.isCold { try dropCache(under: path) } else { try warmCache(under: path) }
    var found = reference_recovery()
    try check(
      reference_recover(path, UInt64(site.rowCount), UInt32(work.threads), work.keepsRows, &found), "recover", path)
    var sample = Sample(rows: Int(found.row_count), seconds: found.seconds, resultHash: found.state_hash)
    sample[.peakResident] = Double(found.peak_resident_byte_count)
    sample[.onDisk] = Double(found.file_byte_count)
    if work.threads == 1 && work.keepsRows && !work.isCold {
      var parts = reference_parts()
      try check(reference_measure_parts(path, UInt64(site.rowCount), &parts), "measure the parts of", path)
      let sum = parts.read_seconds + parts.xxh3_seconds + parts.lz4_seconds + parts.insert_seconds
      sample[.ofParts] = sum / found.seconds
      sample[.ofPartsAndMemory] = (sum + parts.touch_seconds) / found.seconds
      sample[Metric("seconds.read")] = parts.read_seconds
      sample[Metric("seconds.xxh3")] = parts.xxh3_seconds
      sample[Metric("seconds.lz4")] = parts.lz4_seconds
      sample[Metric("seconds.insert")] = parts.insert_seconds
      sample[Metric("seconds.touch")] = parts.touch_seconds
    }
    return sample
  }

  /// The file that is read; made where it is missing.
  static func file(_ work: RecoveryWork, _ site: Site) throws -> String {
    let kind =
      switch work.shape {
      case .rows: "c-rows"
      case .tornTail: "c-torn"
      case .resetInMiddle: "c-half"
      case .smallRecords: "c-small"
      }
    let directory = try site.shared(kind) { directory in
      let path = "\(directory)/log"
      let rows = CorpusCache.corpus(work.written(site.rowCount))
      var seconds = 0.0
      let plan = reference_append_plan(
        rows_per_commit: UInt32(work.recordsPerCommit), thread_count: 1, synced: false)
      try check(reference_append(path, rows.rows, plan, nil, &seconds), "append", path)
      if work.shape == .tornTail { try tearLastWrite(of: path) }
    }
    return "\(directory)/log"
  }
}

/// Plain sequential read of the C reference's file: no recovery is faster.
struct RawRead: Subject {
  let work: RecoveryWork
  let name = SubjectName.rawIO

  func prepare(_ site: Site) throws { _ = try CReferenceRecovery.file(work, site) }

  func sample(_ site: Site) throws -> Sample {
    let path = try CReferenceRecovery.file(work, site)
    if work.isCold { try dropCache(under: path) } else { try warmCache(under: path) }
    var count: UInt64 = 0
    var seconds = 0.0
    try check(reference_raw_read(path, &count, &seconds), "read", path)
    var sample = Sample(rows: site.rowCount, seconds: seconds, resultHash: nil)
    sample[.onDisk] = Double(count)
    return sample
  }
}
