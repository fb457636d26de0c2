/// One line of results: what one subject reached in one bench, in one metric.
struct Figure: Sendable {
  var bench: String
  var subject: String
  var metric: Metric
  var summary: Summary
  var runs: Int
  var rows: Int
  /// Hexadecimal; equal for every subject that did the same work.
  var resultHash: String?
  /// What is asked for: at least, or at most, as ``Metric/moreIsBetter`` says.
  var goal: Double?
  var environment: MachineEnvironment

  var json: JSON {
    var members: [(name: String, value: JSON)] = [
      ("bench", .string(bench)), ("subject", .string(subject)), ("metric", .string(metric.name)),
      ("median", .number(summary.median)), ("min", .number(summary.min)), ("max", .number(summary.max)),
      ("runs", .number(Double(runs))), ("rows", .number(Double(rows))),
    ]
    if let resultHash { members.append(("resultHash", .string(resultHash))) }
    if let goal { members.append(("goal", .number(goal))) }
    members.append(("environment", environment.json))
    return .object(members)
  }

  /// nil if `json` is not a result line.
  init?(_ json: JSON) {
    guard let bench = json["bench"]?.string, let subject = json["subject"]?.string,
      let metric = json["metric"]?.string, let median = json["median"]?.number, let min = json["min"]?.number,
      let max = json["max"]?.number, let runs = json["runs"]?.number, let environment = json["environment"],
      let machine = MachineEnvironment(environment)
    else { return nil }
    self.bench = bench
    self.subject = subject
    self.metric = Metric(metric)
    summary = Summary(median: median, min: min, max: max)
    self.runs = Int(runs)
    rows = json["rows"]?.number.map { Int($0) } ?? 0
    resultHash = json["resultHash"]?.string
    goal = json["goal"]?.number
    self.environment = machine
  }

  init(
    bench: String, subject: String, metric: Metric, summary: Summary, runs: Int, rows: Int, resultHash: String?,
    goal: Double? = nil, environment: MachineEnvironment
  ) {
    self.bench = bench
    self.subject = subject
    self.metric = metric
    self.summary = summary
    self.runs = runs
    self.rows = rows
    self.resultHash = resultHash
    self.goal = goal
    self.environment = environment
  }
}

extension MachineEnvironment {
  var json: JSON {
    .object([
      ("cpu", .string(cpu)), ("cores", .number(Double(cores))), ("memory_bytes", .number(Double(memoryByteCount))),
      ("kernel", .string(kernel)), ("file_system", .string(fileSystem)), ("device", .string(device)),
      ("compiler", .string(compiler)), ("commit", .string(commit)), ("date", .string(date)),
    ])
  }

  init?(_ json: JSON) {
    guard case .object = json else { return nil }
    func text(_ name: String) -> String { json[name]?.string ?? "unknown" }
    func count(_ name: String) -> Int { json[name]?.number.flatMap { Int(exactly: $0) } ?? 0 }
    self.init(
      cpu: text("cpu"), cores: count("cores"), memoryByteCount: count("memory_bytes"), kernel: text("kernel"),
      fileSystem: text("file_system"), device: text("device"), compiler: text("compiler"), commit: text("commit"),
      date: text("date"))
  }
}
