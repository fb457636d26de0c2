import Testing

@testable import Strandline

struct QueryPlanJSONTests {
  @Test func `a plan is read from JSON`() throws {
    let plan = try QueryPlan(
      json: Value.json(
        """
        {"filters": [{"kind": "eq", "column": "done", "value": false}, {"kind": "in", "column": "id", "values": ["a", null]},
          {"kind": "or", "filters": [{"kind": "like", "column": "t", "pattern": "a%"}, {"kind": "search", "query": "milk"}]},
          {"kind": "not", "filters": [{"kind": "is", "column": "t", "value": null}]},
          {"kind": "textSearch", "column": "t", "query": "a b", "type": "phrase"}],
         "orders": [{"column": "t", "ascending": false}, {"column": "id", "nulls": "first"}],
         "limit": 3, "offset": 1, "columns": ["id"], "stripNulls": true, "head": true, "count": true, "cardinality": "maybeSingle"}
        """))
    #expect(
      plan
        == QueryPlan(
          filters: [
            .column("done", .equals, false), .column("id", .in, ["a", .null]),
            .or([.column("t", .like, "a%"), .search("milk")]), .not(.column("t", .is, .null)),
            .textSearch("t", "a b", .phrase),
          ], orders: [QueryOrder("t", ascending: false), QueryOrder("id", nulls: .first)], offset: 1, limit: 3,
          columns: ["id"],
          stripsNulls: true, isHead: true, isCounted: true, cardinality: .maybeSingle))
    #expect(try QueryPlan(json: [:]) == QueryPlan())
  }

  @Test(arguments: [
    "[]", "{\"filters\": 1}", "{\"filters\": [1]}", "{\"filters\": [{\"kind\": \"eq\"}]}", "{\"limit\": \"1\"}",
    "{\"filters\": [{\"kind\": \"eq\", \"value\": 1}]}", "{\"cardinality\": \"two\"}", "{\"orders\": [{}]}",
    "{\"columns\": [1]}",
  ])
  func `what is no plan is undecodable`(_ text: String) throws {
    let json = try Value.json(text)
    #expect {
      try QueryPlan(json: json)
    } throws: { error in
      (error as? StoreError)?.code == "JSON"
    }
  }

  @Test(arguments: [
    "{\"filters\": [{\"kind\": \"near\", \"column\": \"a\", \"value\": 1}]}",
    "{\"filters\": [{\"kind\": \"textSearch\", \"column\": \"a\", \"query\": \"x\", \"type\": \"fuzzy\"}]}",
  ])
  func `an unknown kind is unsupported`(_ text: String) throws {
    let json = try Value.json(text)
    #expect {
      try QueryPlan(json: json)
    } throws: { error in
      (error as? StoreError)?.code == "LOCAL_UNSUPPORTED"
    }
  }
}
