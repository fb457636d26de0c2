import Glibc
@_spi(Engine) import StrandlineLog
import Testing

@testable import strandline

struct TourTests {
  private func entry(_ package: String, _ version: String, _ date: Int64) -> ChangelogEntry {
    ChangelogEntry(
      package: package, version: version, distributions: ["sid"], urgency: nil, lines: ["* \"x\"", ""],
      closedBugs: [7], maintainerName: "Ä", maintainerMail: "a@b", date: date)
  }

  private func history(commitCount: Int) -> TourHistory {
    var history = TourHistory(source: .changelogs)
    history.take((0..<commitCount).map { ("pkg", entry("pkg", "\($0)", Int64($0) * 1000)) })
    return history
  }

  @Test func `the entries of one upload are one commit and uploads are in the order of their dates`() {
    var history = TourHistory(source: .changelogs)
    history.take([
      ("z", entry("a", "2", 5000)), ("b", entry("a", "1", -1000)), ("a", entry("a", "2", 5000)),
      ("c", entry("c", "1", 5000)),
    ])
    #expect(history.commits.map(\.count) == [1, 2, 1])
    #expect(history.dates == -1000...5000)
    #expect(
      String(decoding: history.commits[0][0], as: UTF8.self)
        == #"{"date":"1969-12-31T23:59:59Z","package":"b","source":"a","version":"1","distributions":["sid"],"#
        + #""urgency":null,"by":"Ä <a@b>","closes":[7],"changes":["* \"x\"",""]}"#)
    #expect(!history.commits.joined().joined().contains(0x0A))
  }

  @Test func `a store that is not the history is found out`() throws {
    let scratch = try ScratchDirectory()
    let history = history(commitCount: 4)
    func found(_ name: String, _ commits: [[[UInt8]]]) throws -> Int {
      let log = try Log.open(at: scratch.file(name))
      for commit in commits { try log.append(commit) }
      defer { try? log.close() }
      return try TourProof.compare(log, with: history)
    }
    let other = [Array("other".utf8)]
    #expect(try found("prefix", Array(history.commits.prefix(3))) == 3)
    #expect(try found("all", history.commits) == 4)
    #expect(throws: Failure(.finding, "NOT PROVED: commit 5 was never written")) {
      try found("more", history.commits + [other])
    }
    #expect(throws: Failure(.finding, "NOT PROVED: commit 2 has other contents")) {
      try found("other", [history.commits[0], other])
    }
    #expect(throws: Failure(.finding, "NOT PROVED: commit 1 has other contents")) {
      try found("long", [history.commits[0] + other])
    }
  }

  @Test func `a machine without changelogs shows its packages and one without either says so`() throws {
    let scratch = try ScratchDirectory()
    let list = (0..<60).map { "Package: p\($0)\nStatus: install ok installed\nVersion: 1\n" }.joined(separator: "\n")
    scratch.write(Array(list.utf8), to: "status")
    let history = TourHistory.collect(changelogs: "/nonexistent", packages: scratch.path)
    #expect(history?.history.source == .packageList)
    #expect(history?.history.entryCount == 60)
    #expect(history?.uploads.entryCount == 60)
    #expect(TourHistory.collect(changelogs: "/nonexistent", packages: "/nonexistent") == nil)
  }

  /// Runs `body` on a thread of its own: a chapter waits for tasks, which need the pool's threads.
  private func onOwnThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    let thread = HelperThread(name: "tour", clock: SystemClock())
    try thread.start()
    defer { thread.stop() }
    let outcome = await withUnsafeContinuation { (continuation: UnsafeContinuation<Result<Void, any Error>, Never>) in
      thread.submit { continuation.resume(returning: Result { try body() }) }
    }
    try outcome.get()
  }

  @Test(.serialized, arguments: [TourHistory.commitCountMin, 61, 200])
  func `every chapter after the first works with a short history too`(commitCount: Int) async throws {
    let scratch = try ScratchDirectory()
    let console = Console(out: Output(descriptor: nil), err: Output(descriptor: nil))
    let tour = Tour(
      directory: scratch.path, tool: ToolRun.path, console: console,
      narrator: Narrator(console: console, speaksOnError: false))
    tour.history = history(commitCount: commitCount)
    tour.uploads.take((0..<commitCount).map { entry("pkg", "\($0)", Int64($0) * 1000) })
    nonisolated(unsafe) let shared = tour
    try await onOwnThread { for chapter in TourCommand.chapters.dropFirst() { try chapter.run(shared) } }
    #expect(tour.figures.proofCount == 19)
    #expect(tour.figures.tables.entryCount == commitCount)
    #expect(tour.figures.sync.rowCount == commitCount && tour.figures.sync.pullNanoseconds > 0)
    #expect(tour.figures.salvagedCommitCount == commitCount - 1)
    #expect(tour.figures.cutCommitCount == 1)
    #expect(tour.figures.killCount == 4)
  }

  @Test func `the narrator breaks lines at blanks`() {
    #expect(Narrator.wrapped("one two three", width: 7) == ["one two", "three"])
    #expect(Narrator.wrapped("extraordinary word", width: 5) == ["extraordinary", "word"])
    #expect(Narrator.wrapped("", width: 5) == [])
  }

  @Test func `percentiles are taken from the commits`() {
    var figures = TourFigures()
    #expect(figures.commitNanoseconds(percentile: 99) == 0)
    figures.commitNanoseconds = Array((1...200).reversed())
    #expect(figures.commitNanoseconds(percentile: 50) == 101)
    #expect(figures.commitNanoseconds(percentile: 99) == 199)
  }

  @Test func `the tour proves everything, prints its table as JSON and never overwrites what was kept`() throws {
    let scratch = try ScratchDirectory()
    let directory = scratch.file("kept")
    let run = try ToolRun(["tour", "--json", "--keep", directory])
    #expect(run.ending == .exited(0), "\(run.errorText)")
    #expect(run.text.hasPrefix("{\n  \"schema\": 1,\n"))
    #expect(run.text.contains("\"acknowledgedCommitsLost\": 0,"))
    #expect(run.text.contains("\"bitFlipCommitsLost\": 1,"))
    #expect(run.errorText.contains("1. Collect a history"))
    #expect(run.errorText.contains("bytes raw"))
    #expect(
      try DirectoryTree.names(in: directory) == [
        "damaged", "laptop", "phone", "salvaged", "server", "store", "stranger", "tables",
      ])
    #expect(run.errorText.contains("12. Work offline, and meet"))
    #expect(!run.errorText.contains("\\n"), "a line break that was escaped")
    #expect(try ToolRun(["query", "\(directory)/phone", "--table", "entries", "--count"]).text != "0\n")
    let again = try ToolRun(["tour", "--keep", directory])
    #expect(again.ending == .exited(2))
    #expect(again.errorText == "strandline tour: cannot make \(directory): File exists\n")
  }

  @Test func `an interrupted tour leaves nothing behind, no process and no directory`() throws {
    let scratch = try ScratchDirectory()
    var child = try ChildProcess(
      ToolRun.path, ["tour"], output: .pipe, errors: .none, environment: ["TMPDIR=\(scratch.path)"])
    var output = ""
    var buffer = [UInt8](repeating: 0, count: 4096)
    while !output.contains("2. Write it"), case let count = read(child.output, &buffer, buffer.count), count > 0 {
      output += String(decoding: buffer[..<count], as: UTF8.self)
    }
    child.send(signal: SIGINT)
    #expect(child.wait() == .exited(130))
    child.closeOutput()
    #expect(try DirectoryTree.names(in: scratch.path).isEmpty)
  }
}
