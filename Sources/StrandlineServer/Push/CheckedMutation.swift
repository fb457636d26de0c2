/// A mutation of a request that passed the checks of the whole request.
struct CheckedMutation: Sendable {
  var id: String
  var row: RowID
  var operation: MutationOperation
  /// The keys are the mask of the write.
  var columns: [String: Value]
  var precondition: [String: Value]
  var transforms: [String: Transform]
  /// Only on tables with ``ConflictMode/hlc``, and there for every write that names columns.
  var stamp: HybridTimestamp?
  var keyComponents: [String]
}
