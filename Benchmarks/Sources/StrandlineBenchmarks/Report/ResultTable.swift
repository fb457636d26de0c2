/// All results as one Markdown page.
enum ResultTable {
  static func markdown(_ results: Results) -> String {
    var lines = [
      "# Results", "",
      "Made by `strandline-bench report`, not by hand. What each bench does: Docs/Benchmarks.md. Cells read: median",
      "(smallest–largest) of the runs. Ratio: the speed of ours against the C reference's in the same turn, the median of",
      "the pairs; where a bench has no reference, against the fastest peer that keeps every commit. 1 is equal, more is",
      "faster. `sqlite-normal` can lose commits in a power cut and is no such peer.", "",
    ]
    for environment in distinct(results.figures.map(\.environment.withoutDate)) {
      let dates = results.figures.map(\.environment).filter { $0.withoutDate == environment }.map(\.date)
      lines.append(text(environment, first: dates.min() ?? "", last: dates.max() ?? ""))
    }
    for family in results.families {
      lines += ["", "## \(family)", "", "![\(family)](\(family).svg)", ""]
      lines += comparison(results, family)
      let goals = goals(results, family)
      if !goals.isEmpty { lines += ["", "What is asked of ours:", ""] + goals }
      let latencies = table(results, family, [.p50, .p90, .p99, .p999, .longest, .p50Idle, .p99Idle])
      if !latencies.isEmpty { lines += ["", "Latency of one operation:", ""] + latencies }
      let others = table(results, family, Self.details)
      if !others.isEmpty { lines += ["", "Time, space, scaling:", ""] + others }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static let details: [Metric] = [
    .seconds, .compaction, .spaceGivenBack, .updates, .commitsBeside, .residentOpened, .anonymousOpened, .peakResident,
    .onDiskBefore, .onDisk, .onDiskAfterCompaction, .ofRaw, .written, .p99OfIdle, .speedUp, .ofParts, .ofPartsAndMemory,
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
      let ours = SubjectName.strandline.text
      let ratio = results.figure(bench, ours, .ratio) ?? results.figure(bench, ours, .ofBestPeer)
      let isLost = ratio.map { $0.metric == .ofBestPeer && $0.summary.median < 1 } ?? false
      let ratioText = ratio.map { Quantity.text($0.summary, .ratio) + (isLost ? " **lost**" : "") } ?? "–"
      let goal = ratio?.goal.map { goal in
        "≥ \(Quantity.digits(goal))" + (ratio!.summary.median >= goal ? "" : " **missed**")
      }
      lines.append("| \(bench) | \(cells.joined(separator: " | ")) | \(ratioText) | \(goal ?? "–") |")
    }
    return lines
  }

  /// A row for each figure but a ratio against a reference that has a goal.
  private static func goals(_ results: Results, _ family: String) -> [String] {
    let rows = results.figures.compactMap { figure -> String? in
      guard Results.family(figure.bench) == family, figure.metric != .ratio, let goal = figure.goal else { return nil }
      let limit = (figure.metric.moreIsBetter ? "≥ " : "≤ ") + Quantity.text(goal, figure.metric)
      let isReached = figure.metric.reaches(goal, figure.summary.median)
      let value = Quantity.text(figure.summary, figure.metric)
      return "| \(figure.bench) | \(figure.metric.name) | \(value) | \(limit)\(isReached ? "" : " **missed**") |"
    }
    return rows.isEmpty ? [] : ["| bench | figure | ours | goal |", "|---|---|--:|--:|"] + rows
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
    case .p999: "p99.9"
    case .longest: "longest"
    case .p50Idle: "p50 idle"
    case .p99Idle: "p99 idle"
    case .p99OfIdle: "p99 against idle"
    case .residentOpened: "memory opened"
    case .anonymousOpened: "of that anonymous"
    case .onDiskBefore: "on disk before"
    case .onDiskAfterCompaction: "after compaction"
    case .ofRaw: "on disk against raw"
    case .written: "written a byte"
    case .commitsBeside: "commits beside"
    case .updates: "updates"
    case .compaction: "compaction"
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
