internal import CReference
internal import StrandlineLog

/// Our log, opening: replay keeps the decoded memory and puts every row under its key.
struct StrandlineRecovery: Subject {
  let work: RecoveryWork
  let name = SubjectName.strandline

  func prepare(_ site: Site) throws { _ = try store(site) }

  func sample(_ site: Site) throws -> Sample {
    var path = try store(site)
    // Opening repairs a torn tail: every run gets its own copy.
    let isRepaired = work.shape == .tornTail
    if isRepaired {
      let copy = try site.freshPath()
      try copyTree(path, to: copy)
      path = copy
    }
    defer { if isRepaired { try? removeTree(path) } }
    if work.isCold { try dropCache(under: path) } else { try warmCache(under: path) }

    var options = LogOptions()
    options.replayThreadCount = work.threads
    let begun = monotonicNanoseconds()
    let rows = HeldRows(expecting: work.keepsRows ? site.rowCount : 0)
    let log =
      if work.keepsRows {
        try Log.open(at: path, options: options) { batch in rows.take(&batch) }
      } else {
        try Log.open(at: path, options: options)
      }
    let seconds = seconds(since: begun)

    let peak = reference_peak_resident_byte_count()
    let report = log.openReport
    var counted = UInt64(report.recordCount)
    let hash = work.keepsRows ? rows.stateHash : reference_xxh3(&counted, MemoryLayout<UInt64>.size)
    var sample = Sample(rows: report.recordCount, seconds: seconds, resultHash: hash)
    sample[.peakResident] = Double(peak)
    sample[.onDisk] = Double(try byteCount(under: path))
    guard (report.cut != nil) == isRepaired else {
      throw BenchmarkError.finding("\(path): \(isRepaired ? "the torn tail was not cut" : "something was cut")")
    }
    return sample
  }

  private func store(_ site: Site) throws -> String {
    let kind =
      switch work.shape {
      case .rows: "rows"
      case .tornTail: "torn"
      case .resetInMiddle: "reset"
      case .smallRecords: "small"
      }
    let directory = try site.shared(kind) { directory in
      try StrandlineStore.build(work, rows: site.rowCount, at: "\(directory)/store")
    }
    return "\(directory)/store"
  }
}
