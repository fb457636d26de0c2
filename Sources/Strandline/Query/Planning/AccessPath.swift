/// How the candidates for an answer are found.
enum AccessPath {
  /// No row can be found.
  case nothing
  /// Rows by their keys, in the order of the list.
  case keys([[UInt8]])
  /// Ranges of the primary key, in the order of the list.
  case rows([ByteRange], isReverse: Bool)
  case index(IndexScan)
}

/// A walk through a secondary index.
struct IndexScan {
  /// In what order rows are given.
  enum Order: Equatable {
    /// As the entries lie in the ranges.
    case entries
    /// From the last entry to the first; entries with equal values in the order of their primary keys all the same.
    case reverseEntriesTiesByKey
    /// By primary key: keys are collected, then sorted.
    case keys
  }

  var index: IndexDefinition
  /// In the order in which they are walked.
  var ranges: [ByteRange]
  var isReverse: Bool
  var order: Order
}
