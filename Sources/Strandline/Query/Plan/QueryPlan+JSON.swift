// A plan as JSON, as scenario files and stored plans have it:
//
//   {"filters": [{"kind": "eq", "column": "done", "value": false}, …],
//    "orders": [{"column": "title", "ascending": true, "nulls": "first"}],
//    "limit": 20, "offset": 0, "columns": ["id"], "stripNulls": false, "head": false, "count": false, "cardinality": "many"}
//
//   kind            members
//   and, or         filters
//   not             filters (all of them together), or filter
//   search          query
//   textSearch      column, query, type (plain)
//   a comparison    column, and its operand as value, values or pattern

extension QueryPlan {
  /// - Throws: ``StoreError/coding(type:path:reason:)`` for what is no plan, ``StoreError/invalidQuery(reason:)`` for a kind of filter
  ///   or text search that is not known.
  public init(json: Value) throws(StoreError) {
    let plan = PlanMember(json, "plan")
    guard case .object = json else { throw plan.defect("an object") }
    self.init()
    for filter in try plan["filters"]?.members() ?? [] { filters.append(try Filter(filter)) }
    for order in try plan["orders"]?.members() ?? [] { orders.append(try QueryOrder(order)) }
    limit = try plan["limit"]?.int()
    offset = try plan["offset"]?.int() ?? 0
    if let names = try plan["columns"]?.members() {
      var columns: [String] = []
      for name in names { columns.append(try name.text()) }
      self.columns = columns
    }
    stripsNulls = try plan["stripNulls"]?.flag() ?? false
    isHead = try plan["head"]?.flag() ?? false
    isCounted = try plan["count"]?.flag() ?? false
    if let member = plan["cardinality"] {
      guard let cardinality = Cardinality(rawValue: try member.text()) else {
        throw member.defect("many, single or maybeSingle")
      }
      self.cardinality = cardinality
    }
  }
}

extension QueryOrder {
  fileprivate init(_ member: PlanMember) throws(StoreError) {
    self.init(try member.required("column").text(), ascending: try member["ascending"]?.flag() ?? true)
    if let place = member["nulls"] {
      guard let nulls = Nulls(rawValue: try place.text()) else { throw place.defect("first or last") }
      self.nulls = nulls
    }
  }
}

extension Filter {
  fileprivate init(_ member: PlanMember, depth: Int = 0) throws(StoreError) {
    if depth > Self.depthMax {
      throw .invalidQuery(reason: "a filter is nested more than \(Self.depthMax) levels deep")
    }
    func parts() throws(StoreError) -> [Filter] {
      var parts: [Filter] = []
      for part in try member.required("filters").members() { parts.append(try Filter(part, depth: depth + 1)) }
      return parts
    }
    let kind = try member.required("kind").text()
    switch kind {
    case "and": self = .and(try parts())
    case "or": self = .or(try parts())
    case "not":
      if let part = member["filter"] {
        self = .not(try Filter(part, depth: depth + 1))
      } else {
        let parts = try parts()
        self = .not(parts.count == 1 ? parts[0] : .and(parts))
      }
    case "search": self = .search(try member.required("query").text())
    case "textSearch":
      let name = try member["type"]?.text() ?? TextSearchType.plain.rawValue
      guard let type = TextSearchType(rawValue: name) else {
        throw .invalidQuery(reason: "an unknown type of text search: \(name)")
      }
      self = .textSearch(try member.required("column").text(), try member.required("query").text(), type)
    default:
      guard let comparison = Comparison(rawValue: kind) else {
        throw .invalidQuery(reason: "an unknown kind of filter: \(kind)")
      }
      guard let operand = member["value"] ?? member["values"] ?? member["pattern"] else {
        throw member.defect("a value")
      }
      self = .column(try member.required("column").text(), comparison, operand.value)
    }
  }
}

/// A place in the JSON of a plan.
private struct PlanMember {
  let value: Value
  private let path: String

  init(_ value: Value, _ path: String) {
    self.value = value
    self.path = path
  }

  /// Nil: not there, or of anything but an object. Null counts as a value.
  subscript(name: String) -> PlanMember? {
    guard case .object(let members) = value, let member = members[name] else { return nil }
    return PlanMember(member, "\(path).\(name)")
  }

  func required(_ name: String) throws(StoreError) -> PlanMember {
    guard let member = self[name] else { throw defect("an object with a member \(name)") }
    return member
  }

  func defect(_ wanted: String) -> StoreError { .coding(type: "QueryPlan", path: path, reason: "\(wanted) is wanted") }

  func members() throws(StoreError) -> [PlanMember] {
    guard case .array(let members) = value else { throw defect("an array") }
    return members.enumerated().map { PlanMember($1, "\(path)[\($0)]") }
  }

  func text() throws(StoreError) -> String {
    guard case .string(let text) = value else { throw defect("a text") }
    return text
  }

  func flag() throws(StoreError) -> Bool {
    guard case .bool(let flag) = value else { throw defect("true or false") }
    return flag
  }

  func int() throws(StoreError) -> Int? {
    switch value {
    case .null: return nil
    case .int(let number): return Int(number)
    default: throw defect("a whole number")
    }
  }
}
