import Glibc
import Strandline
import StrandlineLog
import Testing

@testable import strandline

struct ChangesCommandTests {
  @Test func `commits come in order, and again from the position of any of them`() throws {
    let store = try TableStore(people: 30)
    let all = try store.objects("changes", "%", "--jsonl")
    #expect(all.map { ($0["changes"] as? [Any])?.count } == [0, 10, 10, 10])
    #expect(all.map { $0["cause"] as? String } == ["schemaChanged", "imported", "imported", "imported"])
    let position = try #require(all[1]["position"] as? String)
    let rest = try store.objects("changes", "%", "--jsonl", "--since", position)
    #expect(rest.map { $0["sequence"] as? Int } == all.dropFirst(2).map { $0["sequence"] as? Int })
    let number = try #require(all[2]["sequence"] as? Int)
    #expect(try store.objects("changes", "%", "--jsonl", "--since", "\(number)").count == 1)
    #expect(store.run("changes", "%", "--since", try #require(all.last?["position"] as? String)).out.isEmpty)
    let text = store.run("changes", "%", "--since", "\(number)").lines
    #expect(text[0].hasSuffix("\timported"))
    #expect(text[1] == "  put people 21 " + ValueText.json(try Value.json(TableStore.person(21))))
  }

  @Test func `only one table's changes where that is asked for`() throws {
    let store = try TableStore(people: 10)
    store.run("put", "%", #"{"id":1}"#, "--table", "other", "--key", "id:int")
    let changes = try store.objects("changes", "%", "--jsonl", "--table", "other")
    #expect(changes.count == 1)
    #expect(((changes.first?["changes"] as? [[String: Any]])?.first?["table"] as? String) == "other")
    #expect(store.run("changes", "%", "--table", "none").code == .usage)
  }

  @Test func `a position the log does not hold is exit code 1`() throws {
    let store = try TableStore(people: 10)
    let last = try #require(try store.objects("changes", "%", "--jsonl").last?["position"] as? String)
    let forged = last.split(separator: ":")[0...1].joined(separator: ":") + ":123"
    let run = store.run("changes", "%", "--since", forged)
    #expect(run.code == .finding, "\(run.err)")
    #expect(store.run("changes", "%", "--since", "x").code == .usage)
    #expect(store.run("changes", "%", "--since", "99999").code == .finding)
  }

  @Test func `a reset arrives as an element, whatever position was taken before it`() throws {
    let store = try TableStore(people: 10)
    let last = try #require(try store.objects("changes", "%", "--jsonl").last?["position"] as? String)
    store.run("reset", "%", "--yes")
    let changes = try store.objects("changes", "%", "--jsonl", "--since", last)
    #expect(changes.first?["reset"] as? Bool == true)
    #expect(changes.first?["cause"] as? String == "reset")
  }

  @Test func `with follow commits of another process come as they are made`() throws {
    let store = try TableStore(people: 10)
    var child = try ChildProcess(ToolRun.path, ["changes", store.path, "--follow", "--jsonl"], output: .pipe)
    defer { child.closeOutput() }
    var heard = ""
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    func listen(until word: String) {
      let end = ContinuousClock.now.advanced(by: .seconds(20))
      while !heard.contains(word), ContinuousClock.now < end {
        var waiting = pollfd(fd: child.output, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 100) > 0 else { continue }
        let count = read(child.output, &buffer, buffer.count)
        if count > 0 { heard += String(decoding: buffer[..<count], as: UTF8.self) } else { return }
      }
    }
    listen(until: "person 10")
    store.run("put", "%", #"{"id":77,"name":"late"}"#, "--table", "people")
    listen(until: "late")
    store.run("reset", "%", "--yes")
    listen(until: #""reset":true"#)
    child.send(signal: SIGINT)
    #expect(child.wait() == .exited(130))
    let lines = heard.split(separator: "\n")
    for line in lines { _ = try parsedJSON(line) }
    #expect(lines.filter { $0.contains("late") }.count == 1)
    #expect(lines.last?.contains(#""reset":true"#) == true)
  }

  @Test func `a reader that goes away ends it quietly`() throws {
    let store = try TableStore(people: 5000)
    let run = try ToolRun.shell(
      #""$0" changes \#(store.path) --jsonl | head -1 >/dev/null; echo "${PIPESTATUS[0]}""#)
    #expect(run.text == "0\n")
    #expect(run.errors.isEmpty)
  }

  @Test func `changes that are followed end with their reader`() throws {
    let store = try TableStore(people: 20)
    let run = try ToolRun.shell(#""$0" changes '\#(store.path)' --follow | head -1; echo "${PIPESTATUS[0]}""#)
    #expect(run.lines.last == "0")
    #expect(run.errors.isEmpty)
  }
}
