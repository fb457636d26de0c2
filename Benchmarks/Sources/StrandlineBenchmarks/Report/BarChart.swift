/// One family of benches as horizontal bars: a group a bench, a bar a subject. A whisker spans the smallest and the largest
/// run; a notch marks the goal. A group is as wide as its best log; what the bare system calls do beyond it is cut.
enum BarChart {
  private static let labelWidth = 190
  private static let barWidth = 420
  private static let valueWidth = 110
  private static let barHeight = 14
  private static let pitch = 17
  private static let groupHead = 24

  static func svg(_ results: Results, family: String) -> String {
    var body: [String] = []
    var y = 8
    for bench in results.benches(in: family) {
      let primary = results.primary(of: bench)
      let bars = results.subjects(of: bench).compactMap { results.figure(bench, $0, primary) }
      let scaled = bars.filter { $0.subject != SubjectName.rawIO.text }
      let longest = (scaled.isEmpty ? bars : scaled).map(\.summary.max).max() ?? 0
      guard longest > 0 else { continue }
      body.append(#"<text class="name" x="8" y="\#(y + 15)">\#(escaped(bench))</text>"#)
      y += groupHead
      let goal = goalValue(results, bench, bars)
      for bar in bars {
        body += self.bar(bar, longest: longest, goal: goal, y: y)
        y += pitch
      }
      y += 8
    }
    let width = labelWidth + barWidth + valueWidth
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(y)" width="\(width)" height="\(y)" role="img">
      <title>\(escaped(family)): median of the runs; \(reading(results, family))</title>
      <style>
      text { font: 12px system-ui, sans-serif; fill: #57606a; }
      .name { font-weight: 600; fill: #1f2328; }
      .value { fill: #1f2328; }
      .whisker { stroke: #1f2328; stroke-opacity: .55; fill: none; }
      .goal { stroke: #cf222e; stroke-width: 2; }
      .strandline { fill: #0969da; } .strandline-async { fill: #54aeff; }
      .c-reference { fill: #8c959f; } .raw-io { fill: #d0d7de; } .peer { fill: #bf8700; }
      @media (prefers-color-scheme: dark) {
        text { fill: #8d96a0; } .name, .value { fill: #e6edf3; } .whisker { stroke: #e6edf3; } .raw-io { fill: #444c56; }
      }
      </style>
      \(body.joined(separator: "\n"))
      </svg>

      """
  }

  /// What a longer bar means.
  private static func reading(_ results: Results, _ family: String) -> String {
    let areRates = Set(results.benches(in: family).map { results.primary(of: $0).isRate })
    switch (areRates.contains(true), areRates.contains(false)) {
    case (true, true): return "longer is faster where the figure is a rate, slower where it is a time"
    case (true, false): return "longer is faster"
    default: return "longer is slower"
    }
  }

  private static func bar(_ figure: Figure, longest: Double, goal: Double?, y: Int) -> [String] {
    func length(of value: Double) -> Double { min(value / longest, 1) * Double(barWidth) }
    func x(_ value: Double) -> String { decimal(Double(labelWidth) + length(of: value)) }
    func length(_ value: Double) -> String { decimal(max(1, length(of: value))) }
    let isCut = figure.summary.median > longest
    let known = ["strandline", "strandline-async", "c-reference", "raw-io"]
    let style = known.contains(figure.subject) ? figure.subject : "peer"
    let summary = figure.summary
    let middle = y + barHeight / 2
    var lines = [
      #"<text x="\#(labelWidth - 8)" y="\#(y + 11)" text-anchor="end">\#(escaped(figure.subject))</text>"#,
      #"<rect class="\#(style)" x="\#(labelWidth)" y="\#(y)" width="\#(length(summary.median))" height="\#(barHeight)"/>"#,
      #"<path class="whisker" d="M\#(x(summary.min)) \#(middle)H\#(x(summary.max))"/>"#,
      #"<text class="value" x="\#(labelWidth + barWidth + 8)" y="\#(y + 11)">"#
        + "\(escaped(Quantity.text(summary.median, figure.metric)))\(isCut ? " ▸" : "")</text>",
    ]
    if let goal, figure.subject == SubjectName.strandline.text, goal <= longest {
      lines.append(#"<path class="goal" d="M\#(x(goal)) \#(y - 1)V\#(y + barHeight + 1)"/>"#)
    }
    return lines
  }

  /// What the goal's ratio means in the unit of the bars.
  private static func goalValue(_ results: Results, _ bench: String, _ bars: [Figure]) -> Double? {
    guard let goal = results.figure(bench, SubjectName.strandline.text, .ratio)?.goal,
      let reference = bars.first(where: { $0.subject == SubjectName.cReference.text })
    else { return nil }
    return reference.metric.isRate ? reference.summary.median * goal : reference.summary.median / goal
  }

  private static func decimal(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }
}
