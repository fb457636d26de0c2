/// Result lines of one or more runs, put together for people.
struct Results {
  private(set) var figures: [Figure] = []

  /// Reads JSON Lines. A later line about the same bench, subject and metric replaces an earlier one, so a bench can be
  /// run again and its lines added at the end.
  ///
  /// - Throws: ``BenchmarkError/failed(_:)`` with the number of the line that is none.
  init(jsonLines text: String, source: String) throws {
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      guard line.contains(where: { $0 != " " && $0 != "\r" }) else { continue }
      guard let json = try? JSONReader.read(line), let figure = Figure(json) else {
        throw BenchmarkError.failed("\(source): line \(number + 1) is not a result line")
      }
      add(figure)
    }
    guard !figures.isEmpty else { throw BenchmarkError.failed("\(source) holds no results") }
  }

  init(_ figures: [Figure]) {
    for figure in figures { add(figure) }
  }

  private mutating func add(_ figure: Figure) {
    let known = figures.firstIndex {
      $0.bench == figure.bench && $0.subject == figure.subject && $0.metric == figure.metric
    }
    if let known { figures[known] = figure } else { figures.append(figure) }
  }

  /// In the catalogue's order, then those it does not know.
  var benches: [String] {
    let places = Dictionary(uniqueKeysWithValues: Catalogue.all.enumerated().map { ($1.name, $0) })
    return distinct(figures.map(\.bench)).enumerated().sorted { left, right in
      (places[left.element] ?? .max, left.offset) < (places[right.element] ?? .max, right.offset)
    }.map(\.element)
  }

  /// First parts of the benches' names: `append`, `recovery`.
  var families: [String] { distinct(benches.map(Self.family)) }

  static func family(_ bench: String) -> String { String(bench.prefix { $0 != "." }) }

  func benches(in family: String) -> [String] { benches.filter { Self.family($0) == family } }

  func subjects(of bench: String) -> [String] { distinct(figures.lazy.filter { $0.bench == bench }.map(\.subject)) }

  func figure(_ bench: String, _ subject: String, _ metric: Metric) -> Figure? {
    figures.first { $0.bench == bench && $0.subject == subject && $0.metric == metric }
  }

  /// The metric that the subjects of a bench are compared by.
  func primary(of bench: String) -> Metric {
    if let known = Catalogue.benchmark(named: bench) { return known.primary }
    let metrics = figures.filter { $0.bench == bench }.map(\.metric)
    let usual: [Metric] = [.rowsPerSecond, .commitsPerSecond, .operationsPerSecond, .seconds]
    return usual.first(where: metrics.contains) ?? metrics.first ?? .seconds
  }

  private func distinct(_ values: some Sequence<String>) -> [String] {
    var seen: Set<String> = []
    return values.filter { seen.insert($0).inserted }
  }
}
