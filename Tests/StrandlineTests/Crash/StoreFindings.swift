import Testing

/// Failures of a test that walks many states: all are counted, one of each sort is shown.
final class StoreFindings {
  private var counts: [String: Int] = [:]
  private var texts: [String] = []

  /// - Parameter text: begins with a line that says what is wrong; the rest says where.
  func add(_ text: String) {
    // Positions and ids differ from state to state; what is wrong does not.
    let sort = String(text.prefix { $0 != "\n" }.filter { !$0.isNumber }.suffix(100))
    counts[sort, default: 0] += 1
    if counts[sort] == 1, texts.count < 12 { texts.append(text) }
  }

  func report() {
    guard !counts.isEmpty else { return }
    let total = counts.values.reduce(0, +)
    Issue.record("\(total) states failed in \(counts.count) ways. One of each:\n\(texts.joined(separator: "\n\n"))")
  }
}
