import StrandlineSync
import Testing

@testable import strandline

@Suite("Settings of sync") struct SyncSettingsTests {
  @Test func `everything can be set`() throws {
    let text = #"""
      {"remote":"https://x","tokenFile":"t","schemaVersion":3,"pageLimit":50,"localOnlyColumns":["draft"],
       "tables":{"a":{"owner":"u","key":["k","l"],"softDelete":"d","conflictMode":"hlc","pullOnly":true,"indexes":["x","x,y"]},
        "b":{"bucket":"team","bucketValue":"red"},"c":{}},
       "http":{"publishableKey":"k","keyHeader":"K","profile":"p","profileHeader":"P","pathPrefix":"","binary":false,
        "connectSeconds":1,"requestSeconds":2}}
      """#
    let settings = try SyncSettings(Array(text.utf8))
    #expect(settings.tokenFile == "t" && settings.schemaVersion == 3 && settings.pageLimit == 50)
    #expect(settings.localOnlyColumns == ["draft"])
    #expect(
      settings.tables["a"]
        == TableConfiguration(
          bucket: .byOwner("u"), softDeleteColumn: "d", conflictMode: .hlc, syncMode: .pullOnly, key: ["k", "l"],
          indexes: [IndexSchema("x", ["x"]), IndexSchema("x_y", ["x", "y"])]))
    #expect(settings.tables["b"] == TableConfiguration(bucket: .byColumn("team"), bucketValue: "red"))
    #expect(settings.tables["c"] == TableConfiguration())
    let remote = try #require(settings.remote)
    #expect(remote.url == "https://x" && remote.publishableKey == "k" && remote.keyHeader == "K")
    #expect(remote.schema == "p" && remote.profileHeader == "P" && remote.pathPrefix.isEmpty && !remote.offersBinary)
    #expect(remote.deadlines.connect == .seconds(1) && remote.deadlines.request == .seconds(2))
  }

  @Test func `a table on the command line says the same as in a file`() throws {
    let option = try #require(
      TableOption("a:owner=u:key=k,l:softDelete=d:conflictMode=hlc:pullOnly:indexes=x+x,y"))
    #expect(option.name == "a")
    #expect(
      try option.configuration()
        == TableConfiguration(
          bucket: .byOwner("u"), softDeleteColumn: "d", conflictMode: .hlc, syncMode: .pullOnly, key: ["k", "l"],
          indexes: [IndexSchema("x", ["x"]), IndexSchema("x_y", ["x", "y"])]))
    #expect(try TableOption("b:bucket=team:bucketValue=r=d")?.configuration().bucketValue == "r=d")
    #expect(TableOption("") == nil && TableOption(":owner=u") == nil && TableOption("a:owner=u:owner=v") == nil)
    let failure = #expect(throws: Failure.self) { try TableOption("a:onwer=u")?.configuration() }
    #expect(failure?.message == "--table a: onwer: there is no such setting; did you mean owner?")
  }

  @Test(arguments: [
    (#"{"remotes":"x"}"#, "remotes: there is no such setting; did you mean remote?"),
    (#"{"remote":7}"#, "remote: a text is wanted"),
    (#"{"schemaVersion":0}"#, "schemaVersion: a whole number from 1 to"),
    (#"{"tables":{"t":{"owner":"a","bucket":"b"}}}"#, "tables.t.owner: excludes bucket"),
    (#"{"tables":{"t":{"conflictMode":"lww"}}}"#, "tables.t.conflictMode: one of arrival, hlc is wanted"),
    (#"{"tables":{"t":[]}}"#, "tables.t: an object is wanted"),
    (#"{"http":{"requestSeconds":0}}"#, "http.requestSeconds: seconds are wanted"), ("{", "byte"),
  ])
  func `a mistake is told with its place`(text: String, message: String) {
    let failure = #expect(throws: Failure.self) { try SyncSettings(Array(text.utf8)) }
    #expect(failure?.code == .usage)
    #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "")")
  }

  @Test(arguments: [
    (["s", "--follow", "--json"], "--follow and --json exclude each other"),
    (["s", "--interval", "5"], "--interval needs --follow beside it"),
    (["s", "--bucket", "x"], "--bucket 'x' is not COLUMN=VALUE"),
    (["s", "--table", "a", "--table", "a"], "--table 'a' is not NAME"),
    (["s", "--token", "x"], "unknown option '--token'"),
    ([], "STORE is missing"), (["s", "t"], "'t' is one argument too many"),
    (["put", "s", "{}"], "--table T is missing"),
    (["put", "s", "{}", "--table", "t", "--if", "x"], "--if 'x' is not COLUMN=JSON"),
    (["init", "s", "--remote", "u"], "--table NAME is missing"),
    (["init", "s", "--table", "t"], "--remote URL is missing"),
    (["init", "s", "--table", "t", "--remote", "http://example.org"], "plain http"),
  ])
  func `a slip on the command line is one line with code 2`(arguments: [String], message: String) throws {
    let run = try ToolRun(["sync"] + arguments)
    #expect(run.ending == .exited(2) && run.output.isEmpty)
    #expect(run.errorText.contains(message) && run.errorText.split(separator: "\n").count == 1, "\(run.errorText)")
  }

  @Test func `help lists the round's options and the other commands`() throws {
    let help = try ToolRun(["sync", "--help"])
    #expect(help.text.contains("Usage: strandline sync STORE") && help.text.contains("--follow"))
    #expect(help.text.contains("\nCommands:\n") && help.text.contains("  dead-letters  "))
    #expect(try ToolRun(["help", "sync"]).text == help.text)
    #expect(try ToolRun(["sync", "some", "--help"]).text == help.text)
    #expect(try ToolRun(["sync", "put", "--help"]).text.contains("Usage: strandline sync put STORE ROW --table T"))
    #expect(try ToolRun(["--help"]).text.contains("  sync  "))
  }
}
