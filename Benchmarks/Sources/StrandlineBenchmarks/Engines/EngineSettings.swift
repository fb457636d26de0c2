/// What every engine is told alike.
struct EngineSettings: Hashable, Sendable {
  /// What a cache of rows or pages may take. LMDB has none: the system keeps its file in memory.
  var cacheByteCount = 1 << 30
  /// Each commit is durable when it returns. Off while a store is made that no clock looks at.
  var syncsCommits = true
  /// Memory enough that nothing leaves the write-ahead log, and no checkpoint: what recovery from the log is measured on.
  var keepsAllInLog = false
  /// Every version of a day stays readable, and the log behind them. Only our store can.
  var keepsOneDay = false
}
