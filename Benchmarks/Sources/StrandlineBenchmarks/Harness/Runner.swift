internal import CReference
internal import Glibc

/// Runs benches: all subjects in turns, one warm-up, then the runs that count.
struct Runner {
  var size: Size
  var runs: Int
  var root: String
  /// nil: all.
  var subjects: Set<String>?
  var environment: MachineEnvironment
  /// Off in tests: their process is not the bench and cannot start itself again.
  var isolates = true
  /// Progress, a line at a time.
  var note: (String) -> Void

  /// All figures of one bench.
  ///
  /// - Throws: ``BenchmarkError/finding(_:)`` if subjects or runs disagree in what they computed.
  func run(_ benchmark: Benchmark) throws -> [Figure] {
    let site = Site(rowCount: benchmark.rowCount(size), root: root)
    let taking = benchmark.subjects.filter { subject in
      (subjects?.contains(subject.name.text) ?? true) && subject.takes(rowCount: site.rowCount)
    }
    guard !taking.isEmpty else { return [] }
    for subject in taking {
      note("\(benchmark.name): preparing \(subject.name.text)")
      try prepare(benchmark, subject, site)
    }
    let baseline = benchmark.speedUpOver.flatMap(Catalogue.benchmark(named:))
    var samples: [[Sample]] = taking.map { _ in [] }
    var memoryByteCount = 0
    for round in 0...runs {
      note("\(benchmark.name): \(round == 0 ? "warm-up" : "run \(round) of \(runs)")")
      for (place, subject) in taking.enumerated() {
        // A virtual machine gets memory that lay idle for some seconds from its host anew, at a tenth of the speed.
        if isolates, benchmark.isIsolated { warmMemory(memoryByteCount) }
        var sample = try sample(benchmark, subject, site)
        memoryByteCount = max(memoryByteCount, Int(sample[.peakResident] ?? 0))
        if let baseline, let slower = baseline.subjects.first(where: { $0.name == subject.name }) {
          warmMemory(memoryByteCount)
          let alone = try self.sample(baseline, slower, site)
          if let before = alone[.seconds], let after = sample[.seconds] { sample[.speedUp] = before / after }
        }
        if round > 0 { samples[place].append(sample) }
      }
    }
    try checkResults(benchmark, taking, samples)
    return figures(benchmark, taking, samples, rows: site.rowCount)
  }

  /// Touches and gives back as much memory as the next process will want.
  private func warmMemory(_ byteCount: Int) {
    guard byteCount > 0, let memory = reference_map(byteCount) else { return }
    memset(memory, 1, byteCount)
    reference_unmap(memory, byteCount)
  }

  private func isIsolated(_ benchmark: Benchmark, _ subject: any Subject) -> Bool {
    isolates && (benchmark.isIsolated || subject.isIsolated)
  }

  /// In a process of its own as well: what an engine leaves behind in memory and threads is nobody else's.
  private func prepare(_ benchmark: Benchmark, _ subject: any Subject, _ site: Site) throws {
    guard isIsolated(benchmark, subject) else { return try subject.prepare(site) }
    _ = try outputOfChild(benchmark, subject, site, "--prepare-only")
  }

  private func sample(_ benchmark: Benchmark, _ subject: any Subject, _ site: Site) throws -> Sample {
    site.settle()
    guard isIsolated(benchmark, subject) else { return try subject.sample(site) }
    let output = try outputOfChild(benchmark, subject, site)
    guard let sample = Sample(line: output.split(separator: "\n").last ?? "") else {
      throw BenchmarkError.failed("\(benchmark.name), \(subject.name.text): the child process gave no sample")
    }
    return sample
  }

  private func outputOfChild(
    _ benchmark: Benchmark, _ subject: any Subject, _ site: Site, _ flags: String...
  ) throws -> String {
    let child = try ChildProcess(
      [
        ChildProcess.ownPath, "sample", benchmark.name, subject.name.text, "--rows", "\(site.rowCount)", "--dir", root,
      ] + flags)
    var bytes: [UInt8] = []
    while child.read(into: &bytes) {}
    let end = child.wait()
    guard end == .exit(0) else {
      throw BenchmarkError.failed("\(benchmark.name), \(subject.name.text): the child process ended with \(end)")
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func checkResults(_ benchmark: Benchmark, _ subjects: [any Subject], _ samples: [[Sample]]) throws {
    var first: (name: String, hash: UInt64)?
    for (subject, runs) in zip(subjects, samples) {
      for case let hash? in runs.map(\.resultHash) {
        guard let known = first else {
          first = (subject.name.text, hash)
          continue
        }
        guard known.hash == hash else {
          throw BenchmarkError.finding(
            "\(benchmark.name): \(subject.name.text) and \(known.name) did not get the same result "
              + "(\(String(hash, radix: 16)) and \(String(known.hash, radix: 16)))")
        }
      }
    }
  }

  private func figures(
    _ benchmark: Benchmark, _ subjects: [any Subject], _ samples: [[Sample]], rows: Int
  ) -> [Figure] {
    var figures: [Figure] = []
    func add(_ subject: SubjectName, _ metric: Metric, _ values: [Double], hash: UInt64?, goal: Double? = nil) {
      guard !values.isEmpty else { return }
      figures.append(
        Figure(
          bench: benchmark.name, subject: subject.text, metric: metric, summary: Summary(values), runs: values.count,
          rows: rows, resultHash: hash.map { String($0, radix: 16) }, goal: goal, environment: environment))
    }
    for (subject, runs) in zip(subjects, samples) {
      let metrics = Set(runs.flatMap(\.values.keys)).sorted { left, right in
        (left == benchmark.primary ? 0 : 1, left) < (right == benchmark.primary ? 0 : 1, right)
      }
      for metric in metrics {
        let asked = metric == .ratio ? benchmark.goal : benchmark.goals[metric]
        let goal = subject.name.hasGoals ? asked : nil
        add(subject.name, metric, runs.compactMap { $0[metric] }, hash: runs.last?.resultHash, goal: goal)
      }
    }
    for (place, subject) in subjects.enumerated() where subject.name.isOurs {
      add(subject.name, .ofBestPeer, ratiosToBestPeer(benchmark, subjects, samples, of: place), hash: nil)
    }
    // Pair by pair: what disturbs the machine for a moment disturbs both of a pair.
    guard let reference = subjects.firstIndex(where: { $0.name == benchmark.reference }) else { return figures }
    for (place, subject) in subjects.enumerated() where subject.name.isOurs {
      let ratios = zip(samples[place], samples[reference]).compactMap { ours, theirs -> Double? in
        guard let ours = ours[benchmark.primary], let theirs = theirs[benchmark.primary] else { return nil }
        return benchmark.primary.isRate ? ours / theirs : theirs / ours
      }
      let goal = subject.name.hasGoals ? benchmark.goal : nil
      add(subject.name, .ratio, ratios, hash: nil, goal: goal)
    }
    return figures
  }

  /// Turn by turn, against the peer whose median is the best of those that keep every commit.
  private func ratiosToBestPeer(
    _ benchmark: Benchmark, _ subjects: [any Subject], _ samples: [[Sample]], of place: Int
  ) -> [Double] {
    let metric = benchmark.primary
    func median(_ peer: Int) -> Double? {
      let values = samples[peer].compactMap { $0[metric] }
      return values.isEmpty ? nil : Summary(values).median
    }
    var best: (peer: Int, median: Double)?
    for peer in subjects.indices where subjects[peer].name.isPeer && subjects[peer].name != .sqliteNormal {
      guard let value = median(peer) else { continue }
      guard let known = best?.median else {
        best = (peer, value)
        continue
      }
      if metric.isRate ? value > known : value < known { best = (peer, value) }
    }
    guard let best else { return [] }
    return zip(samples[place], samples[best.peer]).compactMap { ours, theirs in
      guard let ours = ours[metric], let theirs = theirs[metric] else { return nil }
      return metric.isRate ? ours / theirs : theirs / ours
    }
  }
}
