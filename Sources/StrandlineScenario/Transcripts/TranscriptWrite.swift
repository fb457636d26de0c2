/// A write of the app.
struct TranscriptWrite: Sendable {
  var operation: MutationOperation
  var table: String
  var pk: String
  var mutationID: String?
  var columns: [String: Value]
  var transforms: [String: Value]?
  var precondition: [String: Value]?
  var hlc: String?
  var batchID: String?
  /// The code of the refusal; nil if the write has to land.
  var expectedError: String?

  init(_ step: MessageMember) throws(MessageDefect) {
    let word = try step.required("op")
    guard let operation = MutationOperation(rawValue: try word.text()) else {
      throw word.defect("\"insert\", \"update\" or \"delete\"")
    }
    self.operation = operation
    table = try step.required("table").text()
    pk = try step.required("pk").text()
    mutationID = try step.present("mutation_id")?.text()
    columns = try step.present("columns")?.object() ?? [:]
    transforms = try step.present("transforms")?.object()
    precondition = try step.present("precondition")?.object()
    hlc = try step.present("hlc")?.text()
    batchID = try step.present("batch_id")?.text()
    expectedError = try step.present("expect_error")?.text()
  }
}
