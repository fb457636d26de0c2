/// All results as one Markdown page.
enum ResultTable {
  static func markdown(_ results: Results) -> String {
    var lines = [
      "# Results", "",
      "Made by `strandline-bench report`, not by hand. What each bench does: Docs/Benchmarks.md. Cells read: median",
      "(smallest–largest) of the runs. Ratio: the speed of ours against the C reference's in the same turn, the median of",
      "the pairs; 1 is equal, more is faster.", "",
    ]
    for environment in distinct(results.figures.map(\.environment.withoutDate)) {
      let dates = results.figures.map(\.environment).filter { $0.withoutDate == environment }.map(\.date)
      lines.append(text(environment, first: dates.min() ?? "", last: dates.max() ?? ""))
    }
    for family in results.families {
      lines += ["", "## \(family)", "", "![\(family)](\(family).svg)", ""]
      lines += comparison(results, family)
      let latencies = table(results, family, [.p50, .p90, .p99, .longest])
      if !latencies.isEmpty { lines += ["", "Latency of one operation:", ""] + latencies }
      let others = table(results, family, Self.details)
      if !others.isEmpty { lines += ["", "Time, space, scaling:", ""] + others }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static let details: [Metric] = [
    .seconds, .spaceGivenBack, .peakResident, .onDisk, .speedUp, .ofParts, .ofPartsAndMemory,
  ]

  private static func text(_ machine: MachineEnvironment, first: String, last: String) -> String {
    let memory = Quantity.text(Double(machine.memoryByteCount), .bytes)
    let dates = first == last ? first : "\(first) to \(last)"
    return "- \(machine.cpu), \(machine.cores) cores, \(memory); \(machine.kernel); \(machine.fileSystem) on "
      + "\(machine.device); \(machine.compiler); commit \(machine.commit); \(dates)"
  }

  /// A row a bench, a column a subject.
  private static func comparison(_ results: Results, _ family: String) -> [String] {
    let benches = results.benches(in: family)
    var subjects: [String] = []
    for subject in benches.flatMap(results.subjects(of:)) where !subjects.contains(subject) {
      subjects.append(subject)
    }
    var lines = ["| bench | \(subjects.joined(separator: " | ")) | ratio | goal |"]
    lines.append("|---|" + subjects.map { _ in "--:|" }.joined() + "--:|--:|")
    for bench in benches {
      let primary = results.primary(of: bench)
      let cells = subjects.map { subject in
        results.figure(bench, subject, primary).map { Quantity.text($0.summary, primary) } ?? "–"
      }
      let ratio = results.figure(bench, SubjectName.strandline.text, .ratio)
      let ratioText = ratio.map { Quantity.text($0.summary, .ratio) } ?? "–"
      let goal = ratio?.goal.map { goal in
        "≥ \(Quantity.digits(goal))" + (ratio!.summary.median >= goal ? "" : " **missed**")
      }
      lines.append("| \(bench) | \(cells.joined(separator: " | ")) | \(ratioText) | \(goal ?? "–") |")
    }
    return lines
  }

  /// A row for each bench and subject that has one of `metrics`.
  private static func table(_ results: Results, _ family: String, _ metrics: [Metric]) -> [String] {
    let used = metrics.filter { metric in
      results.figures.contains { Results.family($0.bench) == family && $0.metric == metric }
    }
    guard !used.isEmpty else { return [] }
    var lines = ["| bench | subject | \(used.map(title).joined(separator: " | ")) |"]
    lines.append("|---|---|" + used.map { _ in "--:|" }.joined())
    for bench in results.benches(in: family) {
      for subject in results.subjects(of: bench) {
        let figures = used.map { results.figure(bench, subject, $0) }
        guard figures.contains(where: { $0 != nil }) else { continue }
        let cells = figures.map { $0.map { Quantity.text($0.summary, $0.metric) } ?? "–" }
        lines.append("| \(bench) | \(subject) | \(cells.joined(separator: " | ")) |")
      }
    }
    return lines
  }

  private static func title(_ metric: Metric) -> String {
    switch metric {
    case .seconds: "time"
    case .longest: "longest"
    case .peakResident: "peak memory"
    case .onDisk: "on disk"
    case .speedUp: "against its one thread"
    case .ofParts: "parts against the whole"
    case .ofPartsAndMemory: "with first touch of memory"
    case .spaceGivenBack: "space given back after"
    default: String(metric.name.split(separator: ".").last ?? "")
    }
  }

  private static func distinct(_ values: [MachineEnvironment]) -> [MachineEnvironment] {
    var seen: Set<MachineEnvironment> = []
    return values.filter { seen.insert($0).inserted }
  }
}

extension MachineEnvironment {
  fileprivate var withoutDate: MachineEnvironment {
    var copy = self
    copy.date = ""
    return copy
  }
}
