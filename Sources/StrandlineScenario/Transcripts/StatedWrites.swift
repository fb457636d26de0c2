/// What the push requests of a transcript say of its local writes and the writes themselves leave out.
struct StatedWrites: Sendable {
  private struct Statement {
    var precondition: [String: Value]?
    var hlc: String?
    var batchID: String?
  }

  private var statements: [String: Statement] = [:]

  init(_ transcript: Transcript) {
    for step in transcript.steps {
      guard let json = step.request(of: .push), let request = try? PushRequest(json: json) else { continue }
      // A resend of the request names the same batch.
      let batchID = request.isAtomic ? "batch:" + request.mutations.map(\.id).joined(separator: ",") : nil
      for mutation in request.mutations {
        var statement = statements[mutation.id] ?? Statement()
        statement.precondition = statement.precondition ?? mutation.precondition
        statement.hlc = statement.hlc ?? mutation.hlc
        statement.batchID = statement.batchID ?? batchID
        statements[mutation.id] = statement
      }
    }
  }

  /// The write with what it leaves unsaid.
  func completed(_ write: TranscriptWrite) -> TranscriptWrite {
    guard let id = write.mutationID, let statement = statements[id] else { return write }
    var write = write
    write.precondition = write.precondition ?? statement.precondition
    write.hlc = write.hlc ?? statement.hlc
    write.batchID = write.batchID ?? statement.batchID
    return write
  }
}
