/// One client, one script of answers, the whole local effect.
struct ConflictVector: Sendable {
  struct SeedRow: Sendable {
    var table: String
    var pk: String
    var row: [String: Value]
    var seq: String
  }

  struct SeedTombstone: Sendable {
    var table: String
    var pk: String
    var seq: String
  }

  enum Push: Sendable {
    case answer(Value)
    case transportError(isRetryable: Bool)
  }

  struct ExpectedError: Sendable {
    enum Stage: String, Sendable {
      case pullBefore = "pull_before"
      case push
      case pullAfter = "pull_after"
    }

    var code: String
    var stage: Stage
    /// Which call of the stage, from 0.
    var index: Int64
  }

  var tables: [String]
  var seedRows: [SeedRow]
  var seedTombstones: [SeedTombstone]
  var seedCursor: String?
  var mutations: [TranscriptWrite]
  var pullBefore: Value?
  var pushes: [Push]
  var pullsAfter: [Value]
  var expectedError: ExpectedError?
  var expectation: ConflictExpectation

  init(_ vector: MessageMember) throws(MessageDefect) {
    seedRows =
      try vector.present("seed_rows")?.list { (seed) throws(MessageDefect) in
        SeedRow(
          table: try seed.required("table").text(), pk: try seed.required("pk").text(),
          row: try seed.required("row").object(), seq: try Self.seq(seed))
      } ?? []
    seedTombstones =
      try vector.present("seed_tombstones")?.list { (seed) throws(MessageDefect) in
        SeedTombstone(
          table: try seed.required("table").text(), pk: try seed.required("pk").text(),
          seq: try Self.seq(seed))
      } ?? []
    seedCursor = try vector.present("seed_cursor")?.text()
    mutations =
      try vector.present("local_mutations")?.list { (write) throws(MessageDefect) in try TranscriptWrite(write) } ?? []
    pullBefore = vector.present("pull_before")?.value
    pullsAfter = try vector.present("pull_after")?.members().map(\.value) ?? []
    if let pushes = vector.present("pushes") {
      self.pushes = try pushes.list { (push) throws(MessageDefect) in try Push(push) }
    } else if let verdicts = vector.present("verdicts") {
      pushes = [.answer(["verdicts": verdicts.value])]
    } else {
      pushes = []
    }
    expectedError = try vector.present("expect_error").map { (error) throws(MessageDefect) in try ExpectedError(error) }
    expectation = try ConflictExpectation(vector.required("expect"))
    tables = try Self.tables(of: vector)
  }

  /// A number counts as its digits, for a seed never travels.
  private static func seq(_ seed: MessageMember) throws(MessageDefect) -> String {
    guard let seq = seed.present("seq") else { return "0" }
    guard let text = seq.value.wireText else { throw seq.defect("a text") }
    return text
  }

  /// The tables that the vector lists; without a list those that it names anywhere.
  private static func tables(of vector: MessageMember) throws(MessageDefect) -> [String] {
    if let listed = vector.present("tables") {
      if case .object(let tables) = listed.value { return tables.keys.sorted() }
      return try listed.list { (table) throws(MessageDefect) in try table.text() }
    }
    var tables: Set<String> = []
    collect(vector.value, into: &tables)
    for entry in try vector.required("expect").present("tombstones")?.members() ?? [] {
      if let table = try entry.text().split(separator: "/", maxSplits: 1).first { tables.insert(String(table)) }
    }
    return tables.sorted()
  }

  /// Wherever a member `table` stands beside a member `pk`.
  private static func collect(_ value: Value, into tables: inout Set<String>) {
    switch value {
    case .array(let members):
      for member in members { collect(member, into: &tables) }
    case .object(let members):
      if case .string(let table)? = members["table"], members["pk"] != nil { tables.insert(table) }
      for member in members.values { collect(member, into: &tables) }
    default: break
    }
  }
}

extension ConflictVector.Push {
  fileprivate init(_ push: MessageMember) throws(MessageDefect) {
    if let error = push.present("transport_error") {
      self = .transportError(isRetryable: try error.present("retryable")?.flag() ?? true)
    } else {
      _ = try push.object()
      self = .answer(push.value)
    }
  }
}

extension ConflictVector.ExpectedError {
  fileprivate init(_ error: MessageMember) throws(MessageDefect) {
    code = try error.required("code").text()
    let word = try error.required("stage")
    guard let stage = Stage(rawValue: try word.text()) else {
      throw word.defect("\"pull_before\", \"push\" or \"pull_after\"")
    }
    self.stage = stage
    index = try error.present("index")?.integer() ?? 0
  }
}
