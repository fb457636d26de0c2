/// Failures of a test that walks many states: all are counted, one of each sort is shown.
public final class Findings {
  private var counts: [String: Int] = [:]
  private var texts: [String] = []

  public init() {}

  /// - Parameter text: begins with a line that says what is wrong; the rest says where.
  public func add(_ text: String) {
    // Positions and ids differ from state to state; what is wrong does not.
    let sort = String(text.prefix { $0 != "\n" }.filter { !$0.isNumber }.suffix(100))
    counts[sort, default: 0] += 1
    if counts[sort] == 1, texts.count < 12 { texts.append(text) }
  }

  /// Hands over one text about all failures, if there were any.
  public func report(_ record: (String) -> Void) {
    guard !counts.isEmpty else { return }
    let total = counts.values.reduce(0, +)
    record("\(total) states failed in \(counts.count) ways. One of each:\n\(texts.joined(separator: "\n\n"))")
  }
}
