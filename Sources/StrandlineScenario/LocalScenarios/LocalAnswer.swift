internal import StrandlineSync

/// What a call of a local scenario answered, and what the step says of it.
enum LocalAnswer {
  case done
  /// Of a query for many rows, or for one that is there or not.
  case rows([Row], isList: Bool)
  case depth(Int)
  case count(Int)
  case cursor(String)
  /// Nil: the call answered nothing.
  case value(Value?)
  /// Nil: there is no such file.
  case status(AttachmentStatus?)

  /// All that a step can expect; a word that is none would pass unseen.
  static let expectations: Set<String> = [
    "expect_error", "expect_code", "expect_count", "expect_null", "expect_single_title", "expect_column_values",
    "expect_depth", "expect_cursor", "expect_value", "expect_status",
  ]

  /// Throws what is not as the step says.
  func compare(with step: MessageMember) throws {
    switch self {
    case .done: break
    case .rows(let rows, let isList): try compare(rows, isList: isList, step)
    case .depth(let depth): try compare("expect_depth", .int(Int64(depth)), step)
    case .count(let count): try compare("expect_count", .int(Int64(count)), step)
    case .cursor(let cursor): try compare("expect_cursor", .string(cursor), step)
    case .value(let value): try compare(value, step)
    case .status(let status): try compare(status, step)
    }
  }

  private func compare(_ value: Value?, _ step: MessageMember) throws {
    if let expected = step.present("expect_value")?.value { try expect("expect_value", expected, got: value) }
    if try step.present("expect_null")?.flag() ?? false, let value {
      throw CaseFailure("expect_null", "the answer is \(value.json)")
    }
  }

  /// A step says as much of a status as it likes.
  private func compare(_ status: AttachmentStatus?, _ step: MessageMember) throws {
    if try step.present("expect_null")?.flag() ?? false, status != nil {
      throw CaseFailure("expect_null", "there is such a file")
    }
    guard let expected = try step.present("expect_status")?.object() else { return }
    guard let status else { throw CaseFailure("expect_status", "there is no such file") }
    let got: [String: Value] = [
      "state": .string(status.state.rawValue), "progress": .double(status.progress),
      "permanent": .bool(status.isPermanent), "error": status.error.map { Value.string($0) } ?? .null,
      "local_path": status.localPath.map { Value.string($0) } ?? .null,
      "error_code": status.errorCode.map { Value.string($0) } ?? .null,
    ]
    for (name, value) in expected.sorted(by: { $0.key < $1.key }) {
      try expect("expect_status \(name)", value, got: got[name])
    }
  }

  private func compare(_ rows: [Row], isList: Bool, _ step: MessageMember) throws {
    try compare("expect_count", .int(Int64(rows.count)), step)
    if try step.present("expect_null")?.flag() ?? false, isList || !rows.isEmpty {
      throw CaseFailure("expect_null", "the answer is \(isList ? "a list" : "a row"), of \(rows.count) rows")
    }
    if let title = step["expect_single_title"]?.value {
      try expect("expect_single_title", title, got: rows.first.map { $0["title"] ?? .null })
    }
    if let columns = step.present("expect_column_values") {
      let column = try columns.required("column").text()
      try expect(
        "expect_column_values \(column)", try columns.required("values").value,
        got: .array(rows.map { $0[column] ?? .null }))
    }
  }

  private func compare(_ name: String, _ got: Value, _ step: MessageMember) throws(CaseFailure) {
    if let expected = step.present(name)?.value { try expect(name, expected, got: got) }
  }
}
