import Testing

@testable import StrandlineBenchmarks

struct ReportTests {
  private static let environment = MachineEnvironment(
    cpu: "A \"quick\" one", cores: 2, memoryByteCount: 25_769_803_776, kernel: "Linux 6", fileSystem: "ext4",
    device: "/dev/vda", compiler: "Swift 6.3", commit: "abc", date: "2026-01-01T00:00:00Z")

  private static func figure(_ subject: String, _ metric: Metric, _ median: Double, goal: Double? = nil) -> Figure {
    Figure(
      bench: "append.synced.1writer", subject: subject, metric: metric,
      summary: Summary(median: median, min: median * 0.9, max: median * 1.1), runs: 5, rows: 4000, resultHash: "2a",
      goal: goal, environment: environment)
  }

  @Test func `a summary is median, smallest and largest`() {
    #expect(Summary([3, 1, 2]) == Summary(median: 2, min: 1, max: 3))
    #expect(Summary([4, 1, 2, 3]).median == 2.5)
  }

  @Test func `percentiles are values that occurred`() {
    var sample = Sample()
    sample.addLatencies((1...100).map { UInt64($0) * 1000 })
    #expect(sample[.p50] == 50e-6)
    #expect(sample[.p99] == 99e-6)
    #expect(sample[.longest] == 100e-6)
  }

  @Test func `a sample survives the way from a child process`() throws {
    var sample = Sample(rows: 10, seconds: 0.5, resultHash: .max)
    sample[.peakResident] = 1_234_567_890_123
    let read = try #require(Sample(line: sample.line))
    #expect(read.values == sample.values)
    #expect(read.resultHash == .max)
    #expect(Sample(line: "no sample") == nil)
  }

  @Test func `result lines are read back`() throws {
    let lines = [
      Self.figure("strandline", .commitsPerSecond, 9000.5), Self.figure("strandline", .ratio, 0.95, goal: 0.9),
    ]
    let text = lines.map(\.json.text).joined(separator: "\n")
    let results = try Results(jsonLines: text, source: "test")
    #expect(results.figures.map(\.json) == lines.map(\.json))
    #expect(results.figures[0].environment == Self.environment)
    #expect(throws: BenchmarkError.self) { try Results(jsonLines: text + "\n{", source: "test") }
    #expect(throws: BenchmarkError.self) { try Results(jsonLines: "\n", source: "test") }
  }

  @Test func `the table names what was missed`() {
    let results = Results([
      Self.figure("strandline", .commitsPerSecond, 8000), Self.figure("c-reference", .commitsPerSecond, 10_000),
      Self.figure("strandline", .ratio, 0.8, goal: 0.9),
    ])
    let table = ResultTable.markdown(results)
    #expect(table.contains("| append.synced.1writer | 8.00 k/s (7.20 k/s–8.80 k/s) | 10.0 k/s (9.00 k/s–11.0 k/s) |"))
    #expect(table.contains("≥ 0.900 **missed**"))
    let chart = BarChart.svg(results, family: "append")
    #expect(chart.contains("<svg") && chart.contains(">8.00 k/s</text>"))
  }

  @Test func `the table says where the best peer is faster, and what is asked in other figures`() {
    func figure(_ subject: String, _ metric: Metric, _ value: Double, goal: Double? = nil) -> Figure {
      var figure = Self.figure(subject, metric, value, goal: goal)
      figure.bench = "compact.1M"
      return figure
    }
    let results = Results([
      figure("strandline", .seconds, 0.5), figure("lmdb", .seconds, 0.25), figure("strandline", .ofBestPeer, 0.5),
      figure("strandline", .ofRaw, 0.78, goal: 0.8),
      figure("strandline", .residentOpened, 73_400_320, goal: 67_108_864),
    ])
    let table = ResultTable.markdown(results)
    #expect(table.contains("| 0.500 (0.450–0.550) **lost** | – |"))
    #expect(table.contains("≤ 0.800 |"))
    #expect(table.contains("≤ 64.0 MiB **missed** |"))
  }

  @Test(arguments: [
    (0.000_000_052, Metric.seconds, "52.0 ns"), (0.000_103_4, .seconds, "103 µs"), (1.5, .seconds, "1.50 s"),
    (999.6, .rowsPerSecond, "1.00 k/s"), (1_710_000, .rowsPerSecond, "1.71 M/s"),
    (64 * 1024 * 1024, .bytes, "64.0 MiB"), (0.9449, .ratio, "0.945"), (9.996, .ratio, "10.0"), (0, .ratio, "0.0000"),
  ])
  func `numbers have three digits and a unit`(value: Double, metric: Metric, text: String) {
    #expect(Quantity.text(value, metric) == text)
  }

  @Test(arguments: [
    #"{"a":[1,-2.5e3,true,null],"b":"x\"\\\né"}"#, "[]", #""\u0041""#, " { } ",
  ])
  func `JSON is read and written`(text: String) throws {
    let value = try JSONReader.read(text)
    #expect(try JSONReader.read(value.text) == value)
  }

  @Test(arguments: ["", "{", #"{"a":}"#, "[1,]", "01x", #""\q""#, "1 2", #""\uD800""#, "nul"])
  func `what is not JSON is refused`(text: String) {
    #expect(throws: JSONReader.Malformed.self) { try JSONReader.read(text) }
  }
}
