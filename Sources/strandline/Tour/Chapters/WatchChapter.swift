import Glibc
import Strandline
import StrandlineLog
import Synchronization

/// Watches a table while others write to it.
enum WatchChapter: TourChapter {
  static let title = "Watch it change"

  private static let changeCount = 100

  /// What the watcher has seen, shared with the thread that writes.
  private final class Seen: Sendable {
    let keys = Mutex<[Int64]>([])
    /// What ended the watching early.
    let failure = Mutex<String?>(nil)
  }

  static func run(_ tour: Tour) throws {
    let store = try tour.openTables()
    let changes = try store.changes(in: "bugs")
    let seen = Seen()
    // Somebody waits for it, so it goes in front of whatever else waits for a thread of the pool.
    let watcher = Task.detached(priority: .high) {
      do {
        for try await change in changes {
          for row in change.rows {
            if case .int(let number)? = row.key.first { seen.keys.withLock { $0.append(number) } }
          }
        }
      } catch {
        seen.failure.withLock { $0 = "\(error)" }
      }
    }
    let written = (0..<changeCount).map { Int64(1_000_000_000 + $0) }
    let started = ContinuousClock.now
    for number in written {
      try store.write(metadata: ["actor": "tour"]) { (transaction: inout Transaction) throws(StoreError) in
        try transaction.insert(
          ["number": .int(number), "package": "tour", "version": "1", "closed": .timestamp(0)], into: "bugs")
        _ = try transaction.put(["name": "tour", "uploads": .int(number)], into: "packages")
      }
    }
    let patience = ContinuousClock.now.advanced(by: .seconds(120))
    while seen.keys.withLock({ $0.count }) < changeCount, seen.failure.withLock({ $0 == nil }),
      ContinuousClock.now < patience
    {
      usleep(500)
    }
    let time = ContinuousClock.now - started
    watcher.cancel()
    let found = seen.keys.withLock { $0 }
    try TourProof.require(
      found == written,
      "\(found.count) changes were seen of \(written.count) that were made; \(seen.failure.withLock { $0 } ?? "no error")"
    )
    try store.close()
    try tour.narrator.say(
      "A task iterates `store.changes(in: \"bugs\")` while \(changeCount) durable commits close bugs and touch a package each. It hears "
        + "of a commit once a sync has covered it, and reads it from the log, so it may be slow without anything piling up."
    )
    try tour.proved(
      "It saw the \(changeCount) changes of its table, each once and in order, \(HumanUnits.duration(time)) after the first began."
    )
  }
}
