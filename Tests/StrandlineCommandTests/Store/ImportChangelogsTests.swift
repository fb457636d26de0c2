import Strandline
import Testing

@testable import strandline

struct ImportChangelogsTests {
  private static let changelog = """
    tool (2.0) unstable; urgency=high

      * Fix it. Closes: #12, #13

     -- Ann <ann@example.org>  Mon, 02 Jan 2006 15:04:05 +0000

    tool (1.0) unstable; urgency=low

      * First.

     -- Bob <bob@example.org>  Sun, 01 Jan 2006 15:04:05 +0000

    """

  private func imported(_ store: TableStore, _ options: String...) -> InspectedStore.Run {
    store.scratch.write(Array(Self.changelog.utf8), to: "doc/tool/changelog")
    return store.run(["import", "debian-changelogs", "%", "--from", store.scratch.file("doc")] + options)
  }

  @Test func `uploads become packages, entries and bugs in commits of their dates`() throws {
    let store = try TableStore()
    let run = imported(store)
    #expect(run.code == .success, "\(run.err)")
    #expect(run.out.hasPrefix("2 entries and 2 closed bugs in 2 commits, "))
    #expect(
      store.run("query", "%", "--table", "packages", "--jsonl").out
        == #"{"bugs":2,"maintainer":"Ann","name":"tool","updated":"2006-01-02T15:04:05.000Z","uploads":2,"version":"2.0"}"#
        + "\n")
    #expect(
      store.run("query", "%", "--table", "bugs", "--where", "package=tool", "--select", "number", "--csv").out
        == "number\n12\n13\n")
    #expect(store.run("query", "%", "--table", "entries", "--where", "urgency=high", "--count").out == "1\n")
    let changes = try store.objects("changes", "%", "--jsonl")
    #expect(
      changes.compactMap { ($0["metadata"] as? [String: String])?["date"] } == [
        "2006-01-01T15:04:05Z", "2006-01-02T15:04:05Z",
      ])
    #expect(try store.objects("history", "%", "--table", "packages", "--key", "tool", "--jsonl").count == 2)
  }

  @Test func `an import that is repeated changes nothing`() throws {
    let store = try TableStore()
    #expect(imported(store).code == .success)
    let before = store.run("query", "%", "--table", "packages", "--jsonl").out
    let again = try parsedJSON(imported(store, "--json").out) as? [String: Any]
    #expect(again?["entries"] as? Int == 0)
    #expect(again?["known"] as? Int == 2)
    #expect(store.run("query", "%", "--table", "packages", "--jsonl").out == before)
  }

  @Test func `a directory without changelogs is exit code 4 and makes no store`() throws {
    let store = try TableStore()
    let run = store.run("import", "debian-changelogs", "%", "--from", "/nonexistent")
    #expect(run.code == .ioFailure)
    #expect(run.err.contains("has no changelogs. Nothing was written."))
    #expect(store.run("stat", "%").code == .ioFailure)
  }
}
