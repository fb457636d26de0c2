@testable import StrandlineLog

/// What a log should hold: an array. Commit i has sequence number i + 1, resets included.
struct CommitModel: Sendable {
  struct Entry: Hashable, Sendable, CustomStringConvertible {
    var sequence: UInt64
    var epoch: UInt64
    var isReset: Bool
    var recordCount: Int
    /// Over the records and their lengths, in order.
    var digest: UInt64

    init(sequence: UInt64, epoch: UInt64, isReset: Bool, records: [[UInt8]] = []) {
      self.sequence = sequence
      self.epoch = epoch
      self.isReset = isReset
      recordCount = 0
      digest = 0
      for record in records { record.withUnsafeBytes { add($0) } }
    }

    mutating func add(_ record: UnsafeRawBufferPointer) {
      recordCount += 1
      digest = Tag.of(record, seed: digest &+ UInt64(record.count) &+ 1)
    }

    var description: String { "\(isReset ? "reset" : "commit") \(sequence)@\(epoch) of \(recordCount)" }
  }

  /// Everything that was ever attempted, in order.
  private(set) var history: [Entry] = []

  var count: Int { history.count }
  var epoch: UInt64 { history.last?.epoch ?? 0 }

  mutating func append(_ records: [[UInt8]]) {
    history.append(Entry(sequence: UInt64(count) + 1, epoch: epoch, isReset: false, records: records))
  }

  mutating func reset(carrying records: [[UInt8]]) {
    history.append(Entry(sequence: UInt64(count) + 1, epoch: epoch + 1, isReset: true, records: records))
  }

  /// Forgets all but the first commits: the others never happened.
  mutating func truncate(to count: Int) { history.removeLast(history.count - count) }

  /// What replay must hand out when the first `count` commits survived.
  ///
  /// - Parameter anchor: the commit behind which replay begins, if no reset came after it.
  func live(_ count: Int, behind anchor: Int = 0) -> ArraySlice<Entry> {
    let first = history[..<count].lastIndex { $0.isReset } ?? 0
    return history[max(first, min(anchor, count))..<count]
  }

  /// Whether replay may hand out `entries` when the first `count` commits survived.
  ///
  /// A reset that carries nothing may be left out: its segment goes once META knows all that it says.
  func allows(_ entries: [Entry], _ count: Int, behind anchors: [Int]) -> Bool {
    for anchor in anchors {
      let live = live(count, behind: anchor)
      if live.elementsEqual(entries) { return true }
      if let first = live.first, first.isReset, first.recordCount == 0, live.dropFirst().elementsEqual(entries) {
        return true
      }
    }
    return false
  }

  func epoch(_ count: Int) -> UInt64 { count == 0 ? 0 : history[count - 1].epoch }
}
