import StrandlineProtocol
import StrandlineSync

/// What a device has to hold, kept the dull way: every new base of a row has the whole queue laid over it again.
struct DullReplica {
  struct Entry: Equatable {
    /// Nil: the client minted it, and it is read from the queue.
    var id: String?
    var place: Place
    var operation: MutationOperation
    var columns: [String: Value] = [:]
    var transforms: [String: Transform] = [:]
    var precondition: [String: Value]?
    /// Entries of one number behind each other are one atomic batch.
    var batch: Int?
    var preImage: [String: Value]?
    /// A push has carried it.
    var wasSent = false
    /// The row was pulled after that, so the pre-image may hold it already.
    var isPerhapsInBase = false
  }

  private struct Base: Equatable { var row: [String: Value]? }

  struct Refusal: Error { var code: SyncErrorCode }

  private(set) var rows: [Place: [String: Value]] = [:]
  private(set) var shadows: Set<Place> = []
  /// Those that the server sent.
  private var tombstones: Set<Place> = []
  /// Rows of writes that were applied perhaps before they were last pulled, with what was pulled.
  private var unconfirmed: [Place: Base] = [:]
  var queue: [Entry] = []
  private(set) var cursor = "0"
  private(set) var watermark: String?
  /// Pages of a pull that is not closed, and where it goes on.
  private(set) var staged: [PullAnswer] = []
  var position: String?
  var isRehydrating = false
  var block: SoftBlockReason?
  /// The server asks for a reset, whatever the block lies over it.
  var isResetDemanded = false
  var owner: String?
  /// The team that is kept as the one in force.
  var keptTeam: String?
  /// Counts scopes that were replaced: an answer to a question about an older one counts for nothing.
  var scopeCount: Int64 = 0
  private(set) var deadLetters: [String] = []
  /// Mutation to kind and reason.
  private(set) var journal: [String: String] = [:]

  // MARK: Local writes

  mutating func write(_ entry: Entry) throws(Refusal) {
    var entry = entry
    if entry.operation == .insert {
      if Schema.isOwned(entry.place.table), entry.columns["owner"] == nil, let owner {
        entry.columns["owner"] = .string(owner)
      }
      if rows[entry.place] != nil { throw Refusal(code: .localConstraint) }
    }
    entry.preImage = rows[entry.place]
    // A write made here shows, shadow or not.
    lay(entry, overShadow: true)
    queue.append(entry)
  }

  private mutating func lay(_ entry: Entry, overShadow: Bool = false) {
    switch entry.operation {
    case .delete:
      rows[entry.place] = nil
      shadows.insert(entry.place)
      if overShadow { tombstones.remove(entry.place) }
    case .insert, .update:
      if shadows.contains(entry.place), !overShadow { return }
      var columns = (rows[entry.place] ?? [:]).merging(entry.columns) { _, new in new }
      DullTransform.apply(entry.transforms, to: &columns)
      rows[entry.place] = columns
    }
  }

  mutating func send(_ count: Int) { for index in queue.indices.prefix(count) { queue[index].wasSent = true } }

  private mutating func overlay(_ places: Set<Place>, afterPull: Bool = false) {
    for index in queue.indices where places.contains(queue[index].place) {
      if afterPull, queue[index].wasSent { queue[index].isPerhapsInBase = true }
      queue[index].preImage = rows[queue[index].place]
      lay(queue[index])
    }
  }

  // MARK: Push

  mutating func take(_ answer: PushAnswer, to count: Int) {
    if block != nil { return }
    if answer.signal != nil { return latch(.resetRequired) }
    let answered = Array(queue.prefix(count))
    queue.removeFirst(count)
    if let abort = answer.abort { return undo(answered, abort) }
    var rebased: Set<Place> = []
    for (entry, verdict) in zip(answered, answer.verdicts ?? []) {
      if let reason = verdict.reason {
        base(entry.place, on: verdict.serverRow)
        rebased.insert(entry.place)
        journal[verdict.mutationID] = "\(reason == "SUPERSEDED" ? reason : "REJECTED") \(reason)"
      } else {
        watermark = verdict.mutationID
        if let row = verdict.serverRow {
          rows[entry.place] = row
          rebased.insert(entry.place)
        } else {
          if entry.isPerhapsInBase, unconfirmed[entry.place] == nil {
            let first = answered.first { $0.place == entry.place }
            unconfirmed[entry.place] = Base(row: first?.preImage)
          }
          if rebased.contains(entry.place) { lay(entry) }
        }
      }
    }
    overlay(rebased)
  }

  private mutating func undo(_ batch: [Entry], _ abort: PushAnswer.Abort) {
    for entry in batch.reversed() {
      base(entry.place, on: entry.id == abort.offenderMutationID ? abort.serverRow : entry.preImage)
    }
    journal[abort.offenderMutationID] = "BATCH_ABORTED \(abort.reason)"
    overlay(Set(batch.map(\.place)))
  }

  /// The writes at the head of the queue are given up.
  mutating func giveUp(_ ids: [String], reason: String) {
    let lost = Array(queue.prefix(ids.count))
    queue.removeFirst(min(ids.count, queue.count))
    for entry in lost.reversed() { base(entry.place, on: entry.preImage) }
    deadLetters += ids
    for id in ids { journal[id] = "DEAD_LETTER \(reason)" }
    overlay(Set(lost.map(\.place)))
  }

  private mutating func base(_ place: Place, on row: [String: Value]?) {
    rows[place] = row
    tombstones.remove(place)
    if row == nil { shadows.insert(place) } else { shadows.remove(place) }
  }

  // MARK: Pull

  func isCurrent(_ scope: Int64) -> Bool { block == nil && scopeCount == scope }

  mutating func take(_ page: PullAnswer, askedIn scope: Int64) {
    if !isCurrent(scope) { return }
    switch page.signal {
    case "RESET_REQUIRED": latch(.resetRequired)
    case "CHECKPOINT_EXPIRED": restart()
    default:
      staged.append(page)
      position = page.cursor
      if !page.hasMore { close() }
    }
  }

  mutating func pullFailed(askedIn scope: Int64) {
    if !isCurrent(scope) { return }
    staged = []
    position = isRehydrating ? "0" : nil
  }

  private mutating func close() {
    var rebased: Set<Place> = []
    if isRehydrating {
      let carried = Set(staged.flatMap { $0.rows.map { Place(table: $0.table, pk: $0.pk) } })
      for place in rows.keys where !carried.contains(place) {
        rows[place] = nil
        rebased.insert(place)
      }
    }
    for page in staged {
      for entry in page.rows {
        let place = Place(table: entry.table, pk: entry.pk)
        base(place, on: entry.row)
        rebased.insert(place)
      }
      for entry in page.tombstones {
        let place = Place(table: entry.table, pk: entry.pk)
        base(place, on: nil)
        tombstones.insert(place)
        rebased.insert(place)
      }
    }
    if !isRehydrating {
      for (place, pulled) in unconfirmed where !rebased.contains(place) {
        rows[place] = pulled.row
        if pulled.row != nil || !tombstones.contains(place) {
          shadows.remove(place)
          tombstones.remove(place)
        }
        rebased.insert(place)
      }
    }
    unconfirmed = [:]
    cursor = position ?? cursor
    staged = []
    position = nil
    isRehydrating = false
    overlay(rebased, afterPull: true)
  }

  private mutating func restart() {
    staged = []
    isRehydrating = true
    position = "0"
  }

  // MARK: Owner, scope, block, reset

  private mutating func latch(_ reason: SoftBlockReason) {
    staged = []
    position = nil
    isRehydrating = false
    block = reason
    if reason == .resetRequired { isResetDemanded = true }
  }

  /// The owner has signed in again.
  mutating func resume() { block = isResetDemanded ? .resetRequired : nil }

  mutating func settle(subject: String?) {
    guard let subject else { return }
    if owner == nil {
      owner = subject
    } else if owner != subject {
      block = .identityChanged
    }
  }

  mutating func setTeam(_ team: String) {
    if let keptTeam, keptTeam != team {
      restart()
      scopeCount += 1
    }
    keptTeam = team
  }

  mutating func reset() { self = DullReplica() }
}
