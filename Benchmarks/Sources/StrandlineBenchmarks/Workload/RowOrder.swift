/// Orders in which rows are written, from fixed seeds.
enum RowOrder {
  /// `count` draws from `range`, each as likely at every draw.
  static func draws(_ count: Int, from range: Range<Int>, seed: UInt64) -> [Int] {
    var random = SplitMix64(state: seed)
    return (0..<count).map { _ in range.lowerBound + Int(random.next() % UInt64(range.count)) }
  }

  /// Every index below `count` once, in random order.
  static func shuffled(_ count: Int, seed: UInt64) -> [Int] {
    var random = SplitMix64(state: seed)
    return (0..<count).shuffled(using: &random)
  }

  /// Places of the rows of a corpus in the order of their keys.
  static func byKey(_ corpus: RowCorpus) -> [Int] {
    struct Entry {
      var high: UInt64
      var low: UInt64
      var place: Int
    }
    var entries = (0..<corpus.count).map { place in
      let key = corpus[place].baseAddress!
      // A table's number fits a byte. Of the UUID the last byte is left out: no two rows come so near.
      let table = UInt64((key + RowGenerator.tableOffset).load(as: UInt8.self))
      let high = UInt64(bigEndian: (key + RowGenerator.keyOffset).loadUnaligned(as: UInt64.self))
      let low = UInt64(bigEndian: (key + RowGenerator.keyOffset + 7).loadUnaligned(as: UInt64.self))
      return Entry(high: table << 56 | high >> 8, low: low, place: place)
    }
    entries.sort { ($0.high, $0.low) < ($1.high, $1.low) }
    return entries.map(\.place)
  }
}
