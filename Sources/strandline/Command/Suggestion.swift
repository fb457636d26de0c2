/// Which known word a mistyped one was probably meant to be.
enum Suggestion {
  /// The candidate with the fewest edits, if those are at most two and fewer than the word is long.
  static func nearest(to word: String, in candidates: [String]) -> String? {
    let scored = candidates.map { (edits: edits(Array(word.utf8), Array($0.utf8)), word: $0) }
    guard let best = scored.min(by: { $0.edits < $1.edits }) else { return nil }
    return best.edits <= min(2, word.utf8.count - 1) ? best.word : nil
  }

  /// Levenshtein distance, one row of the table at a time.
  private static func edits(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (i, byte) in left.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in right.enumerated() {
        let substituted = diagonal + (byte == other ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(substituted, diagonal + 1, row[j] + 1)
      }
    }
    return row[right.count]
  }
}
