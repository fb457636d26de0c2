/// `recovery.*`: opening a log and folding all that is in it into memory.
enum RecoveryBenches {
  static let all: [Benchmark] =
    sizes.flatMap { size in
      [false, true].flatMap { isCold in
        [1, 2].map { threads in
          benchmark(
            "recovery.\(size.name).\(threads == 1 ? "1thread" : "\(threads)threads")\(isCold ? ".cold" : "")",
            "\(size.name) rows, \(isCold ? "no page in the cache" : "files in the page cache")", size.rows,
            RecoveryWork(threads: threads, isCold: isCold))
        }
      }
    } + [
      benchmark(
        "recovery.1M.tornTail", "1M rows, killed in the last write", 1_000_000,
        RecoveryWork(shape: .tornTail, threads: 2)),
      benchmark(
        "recovery.1M.resetInMiddle", "1M rows, the first half void by a reset; the reference holds the other half only",
        1_000_000, RecoveryWork(shape: .resetInMiddle, threads: 2)),
      benchmark(
        "recovery.32byteRecords", "1M records of 32 bytes, one a commit", 1_000_000,
        RecoveryWork(shape: .smallRecords, threads: 2)),
      benchmark(
        "recovery.noConsumer.1M", "1M rows, all verified, nothing kept", 1_000_000,
        RecoveryWork(threads: 2, keepsRows: false)),
      benchmark(
        "recovery.noConsumer.10M", "10M rows, all verified, nothing kept", 10_000_000,
        RecoveryWork(threads: 2, keepsRows: false)),
    ]

  private static let sizes = [(name: "1M", rows: 1_000_000), (name: "10M", rows: 10_000_000)]

  private static func benchmark(_ name: String, _ summary: String, _ rows: Int, _ work: RecoveryWork) -> Benchmark {
    var benchmark = Benchmark(
      name: name, summary: "\(summary); \(work.threads) thread\(work.threads == 1 ? "" : "s")", fullRowCount: rows,
      smallRowCount: 20_000, primary: .rowsPerSecond,
      subjects: [StrandlineRecovery(work: work), CReferenceRecovery(work: work), RawRead(work: work)],
      reference: .cReference, isIsolated: true)
    if work.threads == 1 && !work.isCold { benchmark.goal = 1 / 1.5 }
    if work.threads == 2 && !work.isCold && work.shape == .rows && work.keepsRows {
      benchmark.speedUpOver = name.replacing("2threads", with: "1thread")
    }
    return benchmark
  }
}
