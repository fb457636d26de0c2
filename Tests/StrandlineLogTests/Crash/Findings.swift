import Testing

/// Failures of a test that walks many states: all are counted, the first few are reported.
final class Findings {
  private(set) var count = 0
  private var texts: [String] = []

  func add(_ text: @autoclosure () -> String) {
    count += 1
    if texts.count < 4 { texts.append(text()) }
  }

  func report() {
    guard count > 0 else { return }
    Issue.record("\(count) states failed. The first:\n\(texts.joined(separator: "\n\n"))")
  }
}
