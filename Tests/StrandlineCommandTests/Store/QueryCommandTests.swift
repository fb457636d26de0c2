import Strandline
import StrandlineLog
import Testing

@testable import strandline

struct QueryCommandTests {
  private let store: TableStore

  init() throws { store = try TableStore(people: 60) }

  private func ids(_ options: String...) throws -> [Int] {
    let run = store.run(["query", "%", "--table", "people", "--jsonl"] + options)
    #expect(run.code == .success, "\(run.err)")
    return try run.lines.compactMap { (try parsedJSON($0) as? [String: Any])?["id"] as? Int }
  }

  @Test func `conditions, order, limit and offset choose rows`() throws {
    #expect(try ids("--where", "city=Ulm", "--limit", "3") == [3, 6, 9])
    #expect(try ids("--where", "city=Ulm", "--where", "age>=65", "--order", "age:desc") == [48, 45])
    #expect(try ids("--order", "id:desc", "--offset", "1", "--limit", "2") == [59, 58])
    #expect(try ids("--where", "name=person 7") == [7])
    #expect(try ids("--where", "name~person 1_", "--limit", "2") == [10, 11])
    #expect(try ids("--where", "id!=1", "--limit", "1") == [2])
    #expect(try ids("--where", "email is null", "--limit", "1").count == 1)
    #expect(try ids("--where", "city is not null").count == 60)
    #expect(try ids("--limit", "0").isEmpty)
  }

  @Test func `a filter may be JSON of any depth`() throws {
    let filter =
      #"{"kind":"or","filters":[{"kind":"in","column":"id","values":[2,4]},{"kind":"not","filter":{"kind":"gt","column":"id","value":1}}]}"#
    #expect(try ids("--filter", filter) == [1, 2, 4])
    #expect(try ids("--filter", #"{"kind":"search","query":"PERSON 60"}"#) == [60])
  }

  @Test func `every form says the same rows`() throws {
    let options = ["--where", "id<3", "--select", "id,name"]
    func run(_ form: String...) -> String { store.run(["query", "%", "--table", "people"] + options + form).out }
    #expect(run("--jsonl") == "{\"id\":1,\"name\":\"person 1\"}\n{\"id\":2,\"name\":\"person 2\"}\n")
    #expect((try parsedJSON(run("--json")) as? [[String: Any]])?.count == 2)
    #expect(run("--csv") == "id,name\n1,person 1\n2,person 2\n")
    #expect(run() == "id  name\n1   person 1\n2   person 2\n")
    #expect(
      (try parsedJSON(store.run("query", "%", "--table", "people", "--where", "id<0", "--json").out) as? [Any])?.isEmpty
        == true)
  }

  @Test func `count ignores the limit, and explain names the index`() throws {
    #expect(
      store.run("query", "%", "--table", "people", "--where", "city=Bern", "--limit", "1", "--count").out == "20\n")
    #expect(store.run("query", "%", "--table", "people", "--count", "--json").out == "{\"count\":60}\n")
    let words = store.run("query", "%", "--table", "people", "--where", "city=Bern", "--explain").out
    #expect(words.hasPrefix("read people by index city"))
    let explanation = try store.object("query", "%", "--table", "people", "--where", "city=Bern", "--explain", "--json")
    #expect(explanation["path"] as? String == "index")
    #expect(explanation["index"] as? String == "city")
  }

  @Test(arguments: [
    (["--table", "nobody"], "there is no table nobody"), ([], "--table T is missing"),
    (["--table", "people", "--where", "city"], "--where 'city' is not a condition"),
    (["--table", "people", "--where", "=1"], "--where '=1' is not a condition"),
    (["--table", "people", "--where", "id=one"], "'one' is not of type int"),
    (["--table", "people", "--filter", "{}"], "an object with a member kind is wanted"),
    (["--table", "people", "--filter", #"{"kind":"eqq","column":"id","value":1}"#], "an unknown kind of filter: eqq"),
    (["--table", "people", "--filter", "{"], "no JSON at byte"),
    (["--table", "people", "--order", "id:up"], "--order 'id:up' is not columns"),
    (["--table", "people", "--limit", "-1"], "--limit '-1' is not"),
    (["--table", "people", "--csv", "--json"], "--csv and --json exclude each other"),
    (["--table", "people", "--count", "--csv"], "--csv and --count exclude each other"),
  ])
  func `a question that means nothing is exit code 2 and one line`(options: [String], message: String) {
    let run = store.run(["query", "%"] + options)
    #expect(run.code == .usage)
    #expect(run.out.isEmpty)
    #expect(run.err.contains(message), "\(run.err)")
    #expect(run.err.split(separator: "\n").count == 1)
  }

  @Test func `what is not there or no store has its exit code`() throws {
    #expect(try TableStore().run("query", "%", "--table", "t").code == .ioFailure)
    store.scratch.write([1, 2, 3], to: "other/META")
    #expect(store.run("query", store.scratch.file("other"), "--table", "t").code == .corruption)
  }

  @Test func `a query reads beside a writer and its text cannot steer a terminal`() throws {
    let open = try Store.open(at: store.path)
    try open.write { (transaction: inout Transaction) throws(StoreError) in
      _ = try transaction.put(["id": 99, "name": "\u{1B}[31mred\u{202E}"], into: "people")
    }
    for form in [[], ["--json"], ["--jsonl"]] {
      let run = store.run(["query", "%", "--table", "people", "--where", "id=99"] + form)
      #expect(run.code == .success)
      #expect(run.out.contains("red"))
      #expect(!run.out.contains("\u{1B}") && !run.out.contains("\u{202E}"))
    }
    try open.close()
  }

  @Test func `a reader that goes away ends a long answer quietly`() throws {
    let run = try ToolRun.shell(
      #"seq 50000 | sed 's/.*/{"id":&,"text":"some text for the row"}/' | "$0" load \#(store.path) --table long --key id:int; "#
        + #"for form in --jsonl --json --csv --limit=40000; do "$0" query \#(store.path) --table long $form | head -1 >/dev/null; "#
        + #"echo "${PIPESTATUS[0]}"; done"#)
    #expect(run.text == "0\n0\n0\n0\n")
    #expect(run.errors.isEmpty)
  }
}

struct WhereConditionTests {
  @Test func `the leftmost sign divides column and value`() {
    #expect(WhereCondition("a=b=c")?.text == "b=c")
    #expect(WhereCondition(" a <= 5")?.comparison == .lessThanOrEquals)
    #expect(WhereCondition(" a <= 5")?.column == "a")
    #expect(WhereCondition("a>=b<c")?.text == "b<c")
    #expect(WhereCondition("a is null")?.isNegated == false)
    #expect(WhereCondition("a IS NOT NULL")?.isNegated == true)
    #expect(WhereCondition("a=")?.text == "")
    #expect(WhereCondition("") == nil)
    #expect(WhereCondition("=") == nil)
  }

  @Test func `a value has the type of its column`() {
    #expect(WhereCondition.value("7", as: .string) == .string("7"))
    #expect(WhereCondition.value("7", as: .int) == .int(7))
    #expect(WhereCondition.value("7", as: .double) == .double(7))
    #expect(WhereCondition.value("7.5", as: .int) == nil)
    #expect(WhereCondition.value("true", as: .any) == .bool(true))
    #expect(WhereCondition.value("truth", as: .any) == .string("truth"))
    #expect(WhereCondition.value("1970-01-01T00:00:01Z", as: .timestamp) == .timestamp(1000))
  }
}

struct StoreOptionTextTests {
  @Test func `what history is kept is a word, a number, a time or a size`() {
    #expect(HistoryOption.parsed("none") == StoreOptions.History.none)
    #expect(HistoryOption.parsed("all") == .commits(.max))
    #expect(HistoryOption.parsed("100") == .commits(100))
    #expect(HistoryOption.parsed("12h") == .age(.seconds(43_200)))
    #expect(HistoryOption.parsed("64MiB") == .bytes(64 << 20))
    for text in ["", "0", "-1", "h", "0h", "12x", "1KiB", "99999999999TiB", "9999999999d", "MiB"] {
      #expect(HistoryOption.parsed(text) == nil, "\(text)")
    }
  }

  @Test func `a position is one word and comes back`() {
    let position = Position(epoch: 2, sequence: SequenceNumber(17), tag: 0xFEDC)
    #expect(PositionText.parsed(PositionText.text(position)) == .position(position))
    #expect(PositionText.parsed("17") == .sequence(SequenceNumber(17)))
    for text in ["", "x", "1:2", "1:2:g", "1:2:3:4", "-1", "1::2", "0:99999999999999999999:0"] {
      #expect(PositionText.parsed(text) == nil, "\(text)")
    }
  }
}
