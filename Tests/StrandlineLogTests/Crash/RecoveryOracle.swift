import StrandlineTestSupport

@testable import StrandlineLog

/// Opens a crashed disk and holds what comes back against what was promised.
///
/// - Nothing acknowledged is missing, nothing else is there: what is recovered equals the state after some prefix of the
///   attempted commits, at least as long as the promise and at most as long as the attempts.
/// - What a writable open hands out survives a power cut right after it.
/// - Opening again changes neither the state nor a byte.
/// - The log can be appended to, and what it then acknowledges survives.
/// - No descriptor is left open.
struct RecoveryOracle {
  /// How many commits must at least be there.
  var atLeast: Int
  var promises: Promises
  var model: CommitModel
  /// Distinct for every process that opens a store: ids and salts must not come twice.
  var seed: UInt64

  /// After the end of the process.
  init(killed point: CrashPoint, seed: UInt64) {
    self.init(point, atLeast: point.promises.survivesKill, seed)
  }

  /// After a power cut.
  init(cut point: CrashPoint, seed: UInt64) {
    self.init(point, atLeast: point.promises.survivesPower, seed)
  }

  private init(_ point: CrashPoint, atLeast: Int, _ seed: UInt64) {
    self.atLeast = atLeast
    promises = point.promises
    model = point.model
    self.seed = seed &* 0x9E37_79B9 | 1
  }

  /// Opens and compares. The answer is what is wrong, or nil.
  func check(_ image: DiskImage, deeply: Bool) -> String? {
    do {
      return try deeply ? checkDeeply(image) : checkOnce(SimulatedDisk(image)).complaint
    } catch {
      return "\(error)"
    }
  }

  private struct Answer {
    var complaint: String?
    var count = 0
    var log: Log?
  }

  /// Opens for writing and compares with the model.
  private func checkOnce(_ fileSystem: any FileSystem, seed extra: UInt64 = 0, atLeast: Int? = nil) throws -> Answer {
    let recovered = try RecoveredLog.open(fileSystem, seed: seed &+ extra)
    return compare(recovered, atLeast: atLeast ?? self.atLeast, atMost: promises.attempted)
  }

  private func compare(_ recovered: RecoveredLog, atLeast: Int, atMost: Int) -> Answer {
    let status = recovered.log.status
    let count = Int(status.last.sequence.rawValue)
    func answer(_ complaint: String?) -> Answer { Answer(complaint: complaint, count: count, log: recovered.log) }
    guard count >= atLeast else { return answer("lost: \(count) commits are there, \(atLeast) were promised") }
    guard count <= atMost else { return answer("invented: \(count) commits are there, \(atMost) were attempted") }
    guard status.epoch == model.epoch(count) else {
      return answer("epoch \(status.epoch) with \(count) commits, not \(model.epoch(count))")
    }
    guard model.allows(recovered.entries, count, behind: promises.anchors) else {
      let expected = model.live(count, behind: promises.anchors[0])
      return answer(
        "replayed \(recovered.entries.count) commits to \(count), expected \(expected.count): "
          + Self.firstDifference(recovered.entries, Array(expected)))
    }
    guard status.durable.sequence == status.last.sequence || status.poison != nil else {
      return answer("open published \(count) commits and calls \(status.durable.sequence) durable")
    }
    return answer(nil)
  }

  private func checkDeeply(_ image: DiskImage) throws -> String? {
    // A reader first: it must not change a byte and may see less of the tail, never something else.
    let untouched = SimulatedDisk(image)
    if let complaint = try checkReader(untouched) { return "read-only: \(complaint)" }

    let disk = SimulatedDisk(image)
    var first = try checkOnce(disk)
    if let complaint = first.complaint { return complaint }
    let opened = disk.image

    // Published is durable.
    let afterCut = try checkOnce(
      SimulatedDisk(opened.powerLoss(keeping: .dropAll)), seed: 1, atLeast: first.count)
    if let complaint = afterCut.complaint { return "power cut after open: \(complaint)" }
    if afterCut.count != first.count { return "power cut after open: \(afterCut.count) commits for \(first.count)" }

    // Once more without close: same state, same bytes.
    let second = SimulatedDisk(opened)
    var again = try checkOnce(second, seed: 2, atLeast: first.count)
    if let complaint = again.complaint { return "second open: \(complaint)" }
    if again.count != first.count { return "second open: \(again.count) commits for \(first.count)" }
    again.log = nil
    if Self.hash(second.image) != Self.hash(opened) { return "the second open changed the store" }

    let count = first.count
    let grown = model(grownTo: count)
    let grownOracle = RecoveryOracle(atLeast: count + 1, promises: promises, model: grown, seed: seed &+ 3)
    if let complaint = try grownOracle.use(first.log.take()!, disk) { return complaint }
    if disk.openDescriptorCount != 0 { return "\(disk.openDescriptorCount) descriptors left open" }

    // A clean store opens without a write.
    let closed = disk.image
    let clean = SimulatedDisk(closed)
    let reopened = try RecoveredLog.open(clean, seed: seed &+ 5)
    if let complaint = grownOracle.compare(reopened, atLeast: grown.count, atMost: grown.count).complaint {
      return "reopen after close: \(complaint)"
    }
    if !reopened.log.openReport.wasClosedCleanly { return "a closed store does not count as closed cleanly" }
    if Self.hash(clean.image) != Self.hash(closed) { return "opening a clean store wrote" }
    return nil
  }

  private static let laterRecord: [UInt8] = [1, 2, 3]

  /// The first `count` commits and one more.
  private func model(grownTo count: Int) -> CommitModel {
    var grown = model
    grown.truncate(to: count)
    grown.append([Self.laterRecord])
    return grown
  }

  /// Appends the model's last commit, which must get the next number and survive, and closes.
  private func use(_ log: consuming Log, _ disk: SimulatedDisk) throws -> String? {
    let position = try log.append([Self.laterRecord])
    guard position.sequence.rawValue == UInt64(model.count), position.epoch == model.epoch else {
      return "the next commit became \(position)"
    }
    let kept = try RecoveredLog.open(SimulatedDisk(disk.image.powerLoss(keeping: .dropAll)), seed: seed &+ 4)
    if let complaint = compare(kept, atLeast: model.count, atMost: model.count).complaint {
      return "append after recovery: \(complaint)"
    }
    try log.close()
    return nil
  }

  private init(atLeast: Int, promises: Promises, model: CommitModel, seed: UInt64) {
    self.atLeast = atLeast
    self.promises = promises
    self.model = model
    self.seed = seed
  }

  private func checkReader(_ disk: SimulatedDisk) throws -> String? {
    let before = disk.image.hash()
    do {
      let reader = try RecoveredLog.open(disk, seed: seed &+ 9, access: .readOnly)
      if let damage = reader.log.openReport.damage { return "\(damage)" }
      let count = Int(reader.log.status.last.sequence.rawValue)
      guard (atLeast...promises.attempted).contains(count) else { return "\(count) commits, \(atLeast) were promised" }
      guard model.allows(reader.entries, count, behind: promises.anchors) else {
        return "replayed \(reader.entries.suffix(3)) to \(count)"
      }
    } catch LogError.noStore {
      if atLeast > 0 { return "no store" }
    }
    return disk.image.hash() == before ? nil : "changed the disk"
  }

  /// Checks every complete copy on the disk, and that those acknowledged are there.
  func checkCopies(_ image: DiskImage) -> String? {
    let store = CrashWorkload.storePath
    var paths = image.names(in: "/").filter { $0.hasPrefix("backup-") && !$0.contains(".tmp") }.map { "/" + $0 }
    paths += image.names(in: store).filter { $0.hasPrefix("kept-") && !$0.contains(".tmp") }.map { store + "/" + $0 }
    for path in promises.copies.keys where !paths.contains(path) { return "the copy \(path) is gone" }
    for path in paths {
      do {
        let copy = try RecoveredLog.open(SimulatedDisk(image), at: path, seed: seed &+ 17)
        let count = Int(copy.log.status.last.sequence.rawValue)
        if let acknowledged = promises.copies[path], acknowledged != count {
          return "the copy \(path) holds \(count) commits, not \(acknowledged)"
        }
        let expected = model.live(min(count, model.count))
        guard count <= model.count, copy.entries.count <= expected.count,
          expected.suffix(copy.entries.count).elementsEqual(copy.entries)
        else { return "the copy \(path) of \(count) commits holds \(copy.entries.suffix(3))" }
        if !copy.log.openReport.wasClosedCleanly { return "the copy \(path) is not closed cleanly" }
      } catch {
        return "the copy \(path): \(error)"
      }
    }
    return nil
  }

  /// Of the store; who holds it is for people.
  static func hash(_ image: DiskImage) -> UInt64 { image.hash(of: CrashWorkload.storePath, excluding: ["LOCK"]) }

  private static func firstDifference(_ found: [CommitModel.Entry], _ expected: [CommitModel.Entry]) -> String {
    for (index, pair) in zip(found, expected).enumerated() where pair.0 != pair.1 {
      return "at \(index) \(pair.0) for \(pair.1)"
    }
    return "\(found.last.map(\.description) ?? "nothing") at the end"
  }
}
