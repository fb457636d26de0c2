/// The figures of one bench for a terminal.
enum FigureText {
  static func text(_ benchmark: Benchmark, _ figures: [Figure]) -> String {
    var lines = ["\(benchmark.name)   \(benchmark.summary)"]
    var subjects: [String] = []
    for figure in figures where !subjects.contains(figure.subject) { subjects.append(figure.subject) }
    let width = subjects.map(\.count).max() ?? 0
    for subject in subjects {
      let own = figures.filter { $0.subject == subject }
      let name = subject + String(repeating: " ", count: width - subject.count)
      if let primary = own.first(where: { $0.metric == benchmark.primary }) {
        let others = own.filter { ![benchmark.primary, .ratio, .ofBestPeer].contains($0.metric) }
        lines.append("  \(name)  \(Quantity.text(primary.summary, primary.metric))")
        let texts = others.map { "\(short($0.metric)) \(Quantity.text($0.summary.median, $0.metric))" }
        let indent = String(repeating: " ", count: width + 4)
        for start in stride(from: 0, to: texts.count, by: 6) {
          lines.append(indent + texts[start..<min(start + 6, texts.count)].joined(separator: "  "))
        }
      }
    }
    for figure in figures where figure.metric == .ofBestPeer {
      let lost = figure.summary.median < 1 ? ": LOST" : ""
      lines.append("  \(figure.subject) against the best peer: \(Quantity.text(figure.summary, .ratio))\(lost)")
    }
    for figure in figures where figure.metric != .ratio {
      guard let goal = figure.goal else { continue }
      let reached = figure.metric.reaches(goal, figure.summary.median) ? "reached" : "MISSED"
      let limit = figure.metric.moreIsBetter ? "at least" : "at most"
      lines.append(
        "  \(figure.subject), \(figure.metric.name): goal \(limit) \(Quantity.text(goal, figure.metric)): \(reached)")
    }
    for figure in figures where figure.metric == .ratio {
      let reference = benchmark.reference.map { " against \($0.text)" } ?? ""
      var line = "  ratio of \(figure.subject)\(reference): "
      line += Quantity.text(figure.summary, .ratio)
      if let goal = figure.goal {
        line += "; goal at least \(Quantity.digits(goal)): "
        line += figure.summary.median >= goal ? "reached" : "MISSED"
      }
      lines.append(line)
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// `seconds.p50` as `p50`.
  private static func short(_ metric: Metric) -> String {
    guard let dot = metric.name.firstIndex(of: ".") else { return metric.name }
    return String(metric.name[metric.name.index(after: dot)...])
  }
}
