internal import Glibc

/// The words of titles and notes: 1,608 made-up forms, picked with a skew that lets LZ4 do with the text what it does
/// with English prose.
struct WordList: Sendable {
  static let count = 1608

  /// A word and the space behind it; longer than any word, so that a copy of the whole cell needs no branch.
  static let cellByteCount = 16

  let cells: [UInt8]
  let byteCounts: [UInt8]
  /// Word of each of 16,384 equally likely numbers.
  let picks: [UInt16]

  init(seed: UInt64) {
    var random = SplitMix64(state: seed)
    var seen: Set<[UInt8]> = []
    var cells: [UInt8] = []
    var byteCounts: [UInt8] = []
    while byteCounts.count < Self.count {
      let word = Self.word(rank: byteCounts.count, &random)
      guard seen.insert(word).inserted else { continue }
      byteCounts.append(UInt8(word.count))
      cells.append(contentsOf: word)
      cells.append(contentsOf: repeatElement(UInt8(ascii: " "), count: Self.cellByteCount - word.count))
    }
    self.cells = cells
    self.byteCounts = byteCounts
    picks = Self.skewedPicks(count: 1 << 14)
  }

  /// Frequent words are short, as in any language. With the skew this gives rows of 163 bytes in the mean, text that
  /// LZ4 compresses by 1.74 and rows that it compresses by 1.31 (64 KiB blocks).
  private static func word(rank: Int, _ random: inout SplitMix64) -> [UInt8] {
    let vowels = Array("aeiou".utf8)
    let consonants = Array("tnrshdlcmfpgwybvk".utf8)
    func pick(_ letters: [UInt8]) -> UInt8 { letters[Int(random.next() >> 33) % letters.count] }
    let syllables = rank < 1 ? 1 : rank < 10 ? 2 : 2 + Int(random.next() >> 63)
    var word: [UInt8] = []
    for _ in 0..<syllables {
      if random.next() >> 62 != 0 { word.append(pick(consonants)) }
      word.append(pick(vowels))
      if random.next() >> 63 == 0 { word.append(pick(consonants)) }
    }
    return word
  }

  /// Zipf's law: the word of rank r has the weight 1 / (r + 1)^1.2.
  private static func skewedPicks(count: Int) -> [UInt16] {
    let weights = (0..<Self.count).map { 1 / pow(Double($0) + 1, 1.2) }
    let total = weights.reduce(0, +)
    var picks: [UInt16] = []
    picks.reserveCapacity(count)
    var sum = 0.0
    for (rank, weight) in weights.enumerated() {
      sum += weight
      let end = Int(sum / total * Double(count))
      while picks.count < end { picks.append(UInt16(rank)) }
    }
    while picks.count < count { picks.append(UInt16(Self.count - 1)) }
    return picks
  }
}

/// SplitMix64: the same seed gives the same numbers on every machine and in every release.
struct SplitMix64: RandomNumberGenerator, Sendable {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return Self.mix(state)
  }

  static func mix(_ value: UInt64) -> UInt64 {
    var bits = value
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}
