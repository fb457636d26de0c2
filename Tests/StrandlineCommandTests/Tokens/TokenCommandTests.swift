import StrandlineServer
import StrandlineSync
import Testing

@testable import strandline

@Suite("token") struct TokenCommandTests {
  private let scratch: ScratchDirectory

  init() throws { scratch = try ScratchDirectory() }

  private func config(_ tokens: String) -> String {
    scratch.write(Array(#"{"tables":{"t":{}},"tokens":\#(tokens)}"#.utf8), to: "server.json")
  }

  @Test func `it says what the server's settings ask for, and is taken by them`() throws {
    let secret = scratch.write(Array((ServedTool.secret + "\n").utf8), to: "secret")
    let file = config(#"{"secretFile":"\#(secret)","issuer":"me","audience":"app","roleClaim":"r"}"#)
    let run = try ToolRun(["token", "ann", "--config", file, "--role", "editor", "--days", "2"])
    #expect(run.ending == .exited(0) && run.lines.count == 1)
    let keys = try TokenKeySet(secret: Array(ServedTool.secret.utf8))
    let verifier = TokenVerifier(rules: try ServeSettings(file: file).rules)
    let now = MachineClock().milliseconds() / 1000
    let claims = try verifier.verify(String(run.lines.first ?? ""), with: keys, now: now)
    #expect(claims.subject == "ann" && claims.role == "editor")
    #expect((now + 2 * 86_400 - 3600...now + 2 * 86_400).contains(claims.expires))
  }

  @Test func `a server whose tokens others sign is refused`() throws {
    let published = try ToolRun(["token", "ann", "--config", config(#"{"jwksURL":"https://x"}"#)])
    #expect(published.ending == .exited(2) && published.errorText.contains("signed elsewhere"))
    let short = scratch.write(Array("short".utf8), to: "short")
    let weak = try ToolRun(["token", "ann", "--config", config(#"{"secretFile":"\#(short)"}"#)])
    #expect(weak.ending == .exited(2) && weak.errorText.contains("32 bytes") && weak.output.isEmpty)
    #expect(try ToolRun(["token", "ann"]).ending == .exited(2))
    #expect(try ToolRun(["token", "ann", "--config", scratch.file("none")]).ending == .exited(4))
  }
}
