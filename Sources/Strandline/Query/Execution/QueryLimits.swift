/// What a query keeps in memory at most, besides what it answers.
struct QueryLimits {
  /// Keys that an index gave, to be sorted; where there are more, the table is read in its own order.
  var collectedByteCountMax = 32 << 20
  /// Entries with equal values that are turned round in memory; more are walked once again.
  var turnedCountMax = 256
  /// Rows that are kept while they are sorted; where the limit is higher, their keys are kept and the rows read again.
  var sortedRowCountMax = 10_000
}
