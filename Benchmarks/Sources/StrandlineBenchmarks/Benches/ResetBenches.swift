/// `reset.log.*`: what voiding a log of a given size costs, beside a commit of one row in the same run.
enum ResetBenches {
  static let all: [Benchmark] = [("10k", 10_000), ("100k", 100_000), ("1M", 1_000_000)].map { name, rows in
    Benchmark(
      name: "reset.log.\(name)",
      summary: "Log.reset on \(name) rows; ratio: the median one-row durable commit right before it against the reset",
      fullRowCount: rows, smallRowCount: 2000, primary: .seconds, subjects: [StrandlineReset()], goal: 1 / 1.5)
  }
}
