/// One line on standard error that shows how far a piece of work is.
///
/// Drawn only on a terminal and only once the work has taken a second, at most ten times a second.
final class ProgressBar {
  private static let width = 30

  private let console: Console
  private let label: String
  /// nil: not known; a count is shown instead of a bar.
  private let total: Int?
  private let started = ContinuousClock.now
  private var lastDrawn: ContinuousClock.Instant?

  init(_ label: String, total: Int?, console: Console) {
    self.label = label
    self.total = total
    self.console = console
  }

  /// Says that `done` of the total is done. Cheap; call it as often as convenient.
  func update(_ done: Int) { update(done, of: total) }

  /// The same where the total is known only on the way.
  func update(_ done: Int, of total: Int?) {
    guard console.errIsTerminal else { return }
    let now = ContinuousClock.now
    guard now - started >= .seconds(1) else { return }
    if let lastDrawn, now - lastDrawn < .milliseconds(100) { return }
    lastDrawn = now
    draw(Self.line(label: label, done: done, total: total))
  }

  /// Takes the line away again.
  func finish() {
    if lastDrawn != nil { draw("") }
    lastDrawn = nil
  }

  private func draw(_ line: String) {
    // Back to the first column, and clear what was there.
    try? console.err.write("\r\u{1B}[K\(line)")
    try? console.err.flush()
  }

  static func line(label: String, done: Int, total: Int?) -> String {
    guard let total, total > 0 else { return "\(label) \(HumanUnits.count(done))" }
    let share = min(max(Double(done) / Double(total), 0), 1)
    let filled = Int(share * Double(width))
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    let percent = String(Int(share * 100))
    let pad = String(repeating: " ", count: 3 - percent.count)
    return "\(label) \(bar) \(pad)\(percent) %  \(HumanUnits.count(done)) of \(HumanUnits.count(total))"
  }
}
