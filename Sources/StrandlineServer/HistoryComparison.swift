/// Whether a client's place in a history is one of the server's.
enum HistoryComparison {
  /// The client knows of nothing that the server does not.
  case ours
  /// The client has seen what is not in the server's history.
  case lost
  /// The server keeps nothing to compare with any more.
  case unknown

  init(_ anchor: HistoryAnchor, with state: any ServerState) throws(ServerStorageFailure) {
    let counter = try state.counter()
    guard try anchor.history == state.historyID(), anchor.number <= counter.highMark else {
      self = .lost
      return
    }
    if let tag = anchor.number == 0 ? 0 : try state.tag(at: anchor.number) {
      self = tag == anchor.tag ? .ours : .lost
    } else {
      // The oldest are forgotten first: where a lower one is kept, no commit of this history ended with the number, so that no answer
      // named it.
      self = try state.keepsTag(below: anchor.number) ? .lost : .unknown
    }
  }
}

extension HistoryAnchor {
  /// The anchor that a request carries; nil where it carries none.
  init?(header: String?) throws(ErrorAnswer) {
    guard let header else { return nil }
    guard let anchor = HistoryAnchor(header) else {
      throw ErrorAnswer(
        code: .invalidParameter,
        message: "\(AnswerNotes.historyName): the text is no anchor. Send what an answer brought, or nothing.")
    }
    self = anchor
  }

  /// The server's place in its history.
  init(of state: any ServerState) throws(ServerStorageFailure) {
    let counter = try state.counter()
    self.init(history: try state.historyID(), counter)
  }

  init(history: String, _ counter: ServerCounter) {
    self.init(history: history, number: counter.highMark, tag: counter.tag)
  }
}
