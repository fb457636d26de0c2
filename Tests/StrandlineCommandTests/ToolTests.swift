import Testing

@testable import strandline

/// The built executable, from outside.
struct ToolTests {
  @Test(arguments: [
    [], ["nonsense"], ["log"], ["log", "nonsense"], ["--nonsense"],
  ])
  func `wrong arguments are one line on standard error and exit code 2`(arguments: [String]) throws {
    let run = try ToolRun(arguments)
    #expect(run.ending == .exited(2))
    #expect(run.output.isEmpty)
    #expect(run.errorText.split(separator: "\n").count == 1)
    #expect(run.errorText.hasPrefix("strandline"))
  }

  @Test func `help and version go to standard output`() throws {
    let help = try ToolRun(["--help"])
    #expect(help.ending == .exited(0))
    #expect(help.text.contains("Usage: strandline COMMAND"))
    #expect(help.errors.isEmpty)
    #expect(try ToolRun(["--version"]).text.hasPrefix("strandline "))
    #expect(try ToolRun(["log", "--help"]).ending == .exited(0))
  }

  /// Mended, two names would be one, and neither the one that was given.
  @Test func `an argument that is not UTF-8 is refused, and nothing is made`() throws {
    let run = try ToolRun.shell(
      #"d=$(mktemp -d); cd "$d"; echo hi | "$0" log append $'A\xff'; echo $?; ls -A | wc -l; cd /; rmdir "$d""#)
    #expect(run.text == "2\n0\n")
    #expect(run.errorText.hasPrefix("strandline: an argument is not UTF-8"), "\(run.errorText)")
  }

  @Test func `a reader that goes away ends the tool quietly`() throws {
    let run = try ToolRun.shell(#""$0" --help | true; echo "${PIPESTATUS[0]}""#)
    #expect(run.text == "0\n")
    #expect(run.errors.isEmpty)
  }
}
