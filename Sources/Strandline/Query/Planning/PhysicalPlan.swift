/// A query ready to be run.
struct PhysicalPlan {
  var path: AccessPath
  var filter: BoundFilter
  /// Keys that the candidates have to be sorted by; empty: they come in the order of the answer.
  var sort: [BoundOrder]
  var offset: Int
  /// Rows after which the answer is decided.
  var limit: Int?
  var explanation: QueryExplanation
}
