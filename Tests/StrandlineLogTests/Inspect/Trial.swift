import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// One damaged copy of a sample store, looked at by everything that reads stores.
struct Trial {
  let store: SampleStore
  let image: DiskImage
  /// What was done to it, for the message of a failure.
  let damage: String

  /// What came of it.
  enum Outcome: String, Hashable {
    case fine, cut, refused, repaired
  }

  struct Replayed {
    var sequences: [UInt64] = []
    var records: [[UInt8]] = []
    var gaps: [UInt64] = []
  }

  /// Verifies, opens, and compares.
  ///
  /// - Parameter isConfirmed: whether the damage hits bytes that a sync had confirmed; nil where the test does not know.
  func check(isConfirmed: Bool? = nil) throws -> Outcome {
    let disk = SimulatedDisk(image)
    let hash = image.hash()
    var inspector = try StoreInspector(path: SampleStore.path, environment: SampleStore.environment(disk, seed: 5))
    inspector.searchesBits = false
    let report = try inspector.verify()
    try #require(disk.image.hash() == hash, "\(message): verify changed the directory")
    try #require(disk.openDescriptorCount == 0, "\(message): verify left descriptors open")
    if isConfirmed == true {
      let worst = report.worst ?? .note
      try #require(worst >= .finding, "\(message): verify saw nothing")
      let isNamed = report.findings.contains { $0.severity >= .finding && !$0.file.isEmpty }
      try #require(isNamed, "\(message)")
    }
    return try open(disk, report, hash)
  }

  private var message: String { "\(store.name), \(damage)" }

  private func open(_ disk: SimulatedDisk, _ report: VerifyReport, _ hash: UInt64) throws -> Outcome {
    var replayed = Replayed()
    let log: Log
    do throws(LogError) {
      log = try Log.open(at: SampleStore.path, options: SampleStore.options(disk, seed: 6)) { batch in
        replayed.take(batch)
      }
    } catch {
      switch error {
      case .corrupt, .unsupportedFormat: break
      default: try #require(Bool(false), "\(message): open threw \(error)")
      }
      try #require(report.refusal != nil, "\(message): open refused (\(error)), verify did not")
      try #require((report.worst ?? .note) >= .corruption, "\(message)")
      try #require(disk.image.hash() == hash, "\(message): a refused open changed the directory")
      return .refused
    }
    try #require(
      report.refusal == nil, "\(message): verify says open refuses (\(String(describing: report.refusal))), it did not")
    try checkContents(replayed)
    if let cut = log.openReport.cut {
      let tail = try #require(report.tail)
      try #require(cut.offset == tail.commitEndOffset, "\(message): verify and open cut at different places")
      try #require((report.worst ?? .note) >= .finding, "\(message): a torn tail, and verify saw nothing")
      return .cut
    }
    return (report.worst ?? .note) >= .finding ? .repaired : .fine
  }

  /// What was replayed is a prefix of what was written, and no shorter than what was confirmed.
  private func checkContents(_ replayed: Replayed) throws {
    let replayable = store.replayable
    let promise = store.promise(in: image)
    let confirmed = replayable.filter { $0.endLSN <= promise }.count
    let count = replayed.sequences.count
    try #require(
      count <= replayable.count && count >= confirmed, "\(message): \(count) commits of \(confirmed) came back")
    let expected = replayable.prefix(count)
    try #require(replayed.sequences == expected.map(\.sequence), "\(message)")
    try #require(replayed.records == expected.flatMap(\.records), "\(message): wrong content")
  }

  /// Salvages the copy and demands exactly the commits that are still whole in some segment file.
  func checkSalvage() throws {
    var files: [(header: SegmentHeader, bytes: [UInt8])] = []
    for name in image.names(in: SampleStore.path) where name.hasPrefix("seg-") && name.hasSuffix(".log") {
      guard let bytes = image.bytes(of: "\(SampleStore.path)/\(name)"), SegmentFileName(name) != nil,
        let header = bytes.withUnsafeBytes({ try? SegmentHeader(decodingBlock: $0) })
      else { continue }
      files.append((header, bytes))
    }
    try checkSalvage { commit in
      guard let original = store.image.bytes(of: commit.file), let name = commit.segment else { return false }
      return files.contains { file in
        file.header.fileName == name && file.bytes.count >= commit.range.upperBound
          && file.bytes[commit.range] == original[commit.range]
      }
    }
  }

  /// Salvages the copy and demands exactly the commits that `survives` names.
  func checkSalvage(_ survives: (SampleCommit) -> Bool) throws {
    let disk = SimulatedDisk(image)
    let hash = image.hash()
    let report: SalvageReport
    do throws(LogError) {
      report = try Salvage.run(
        from: SampleStore.path, to: "/new", environment: SampleStore.environment(disk, seed: 8))
    } catch {
      try #require(Bool(false), "\(message): salvage threw \(error)")
      return
    }
    var after = disk.image
    after.remove("/new")
    try #require(after.hash() == hash, "\(message): salvage changed its source")
    let expected = store.live.filter { !$0.isGap && survives($0) }
    var replayed = Replayed()
    do {
      var options = SampleStore.options(disk, seed: 9)
      options.access = .readOnly
      let log = try Log.open(at: "/new", options: options)
      let reader = try log.read(after: nil)
      while let commit = try reader.next() {
        if case .gap = commit.content { continue }
        replayed.sequences.append(commit.position.sequence.rawValue)
        replayed.records += commit.records
      }
      try log.close()
    } catch {
      try #require(Bool(false), "\(message): the salvaged store does not open: \(error)")
    }
    let lost = Set(expected.map(\.sequence)).symmetricDifference(replayed.sequences).sorted()
    try #require(lost.isEmpty, "\(message): salvage differs in commits \(lost); \(report)")
    try #require(replayed.records == expected.flatMap(\.records), "\(message): salvage has wrong content")
    try #require(report.commitCount == expected.count, "\(message)")
    let isLoss = store.live.contains { !$0.isGap && !survives($0) && $0.endLSN <= store.promise(in: image) }
    try #require(
      !isLoss || !report.isComplete, "\(message): salvage lost what was confirmed and says that nothing is: \(report)")
    let verified = try StoreInspector(path: "/new", environment: SampleStore.environment(disk, seed: 5)).verify()
    try #require((verified.worst ?? .note) < .finding, "\(message): \(verified.findings)")
    let reopened = try Log.open(at: "/new", options: SampleStore.options(disk, seed: 10))
    try #require(reopened.openReport.wasClosedCleanly, "\(message)")
  }
}

extension Trial.Replayed {
  mutating func take(_ batch: borrowing ReplayBatch) {
    for frame in batch.frames {
      if frame.kind == .reset { self = Trial.Replayed() }
      if frame.isLast { sequences.append(frame.sequence.rawValue) }
      for record in batch.records(of: frame) { records.append(Array(record)) }
    }
  }
}

extension SampleStore {
  /// What a replay hands over: the live commits behind the anchor.
  var replayable: [SampleCommit] { live.filter { $0.sequence > anchorSequence } }
}

extension SampleCommit {
  var segment: SegmentFileName? { SegmentFileName(file.split(separator: "/").last.map(String.init) ?? "") }
}
