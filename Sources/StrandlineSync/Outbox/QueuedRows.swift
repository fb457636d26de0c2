@_spi(Engine) internal import StrandlineLog
internal import StrandlineProtocol

/// Which rows have writes in the queue, kept in memory: the overlay asks it for every row that a pull brings.
///
/// It may name a write that is queued no more, and misses none that is. A write is noted while the commit that queues it is made, and
/// forgotten once the commit that takes it out stands. Read from the queue where it is not known: after opening, after a reset, and
/// after a commit that was to change the queue has failed.
final class QueuedRows: Sendable {
  struct Entry: Sendable {
    var name: RowName
    var seq: Int64
  }

  /// By the hash of a row's name: two names may share one. Most rows have one write.
  struct Index: Sendable {
    private var first: [Int: Int64] = [:]
    private var others: [Int: Set<Int64>] = [:]

    mutating func insert(_ entry: Entry) {
      let hash = entry.name.hashValue
      if let known = first[hash] {
        if known != entry.seq { others[hash, default: []].insert(entry.seq) }
      } else {
        first[hash] = entry.seq
      }
    }

    mutating func remove(_ entry: Entry) {
      let hash = entry.name.hashValue
      guard first[hash] == entry.seq else {
        others[hash]?.remove(entry.seq)
        if others[hash]?.isEmpty == true { others[hash] = nil }
        return
      }
      first[hash] = nil
      if let rest = others.removeValue(forKey: hash) {
        for seq in rest { insert(Entry(name: entry.name, seq: seq)) }
      }
    }

    /// Ascending.
    func seqs(of name: RowName) -> [Int64] {
      let hash = name.hashValue
      guard let seq = first[hash] else { return [] }
      guard let rest = others[hash] else { return [seq] }
      return (rest + [seq]).sorted()
    }
  }

  private let index = Lock<Index?>(nil)

  /// Inside the commit that queues it.
  func note(_ entry: Entry) { index.withLock { $0?.insert(entry) } }

  /// Behind the commit that took them out.
  func remove(_ entries: [Entry]) { index.withLock { index in for entry in entries { index?.remove(entry) } } }

  /// To be read anew.
  func forget() { index.withLock { $0 = nil } }

  /// The rows of `names` that may have queued writes, in order, and where in the queue these are.
  ///
  /// - Parameter read: the whole queue, as the transaction that asks sees it.
  func seqs(of names: Set<RowName>, read: () throws -> Index) rethrows -> [(name: RowName, seqs: [Int64])] {
    if index.withLock({ $0 == nil }) {
      // Commits are made one at a time: none comes in between.
      let fresh = try read()
      index.withLock { $0 = fresh }
    }
    var found: [(name: RowName, seqs: [Int64])] = []
    index.withLock { index in
      for name in names {
        if let seqs = index?.seqs(of: name), !seqs.isEmpty { found.append((name, seqs)) }
      }
    }
    return found.sorted { $0.name < $1.name }
  }
}
