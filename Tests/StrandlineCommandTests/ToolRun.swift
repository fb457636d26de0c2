import Glibc
import Testing

@testable import strandline

/// The built `strandline`, run as a shell would run it.
struct ToolRun {
  var ending: ChildProcess.Ending
  var output: [UInt8]
  var errors: [UInt8]

  var text: String { String(decoding: output, as: UTF8.self) }
  var errorText: String { String(decoding: errors, as: UTF8.self) }
  var lines: [Substring] { text.split(separator: "\n") }

  /// Runs the tool to its end with `input` on its standard input.
  init(_ arguments: [String], input: [UInt8] = [], environment: [String]? = nil) throws {
    signal(SIGPIPE, SIG_IGN)
    var child = try ChildProcess(
      Self.path, arguments, input: .pipe, output: .pipe, errors: .pipe, environment: environment)
    output = []
    errors = []
    var rest = input[...]
    if rest.isEmpty { child.closeInput() }
    _ = fcntl(child.input, F_SETFL, O_NONBLOCK)
    var isOpen = (output: true, errors: true)
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while isOpen.output || isOpen.errors {
      var waiting = [
        pollfd(fd: child.input, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: isOpen.output ? child.output : -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: isOpen.errors ? child.errors : -1, events: Int16(POLLIN), revents: 0),
      ]
      poll(&waiting, 3, -1)
      if waiting[0].revents != 0 {
        let count = rest.withUnsafeBytes { write(child.input, $0.baseAddress, $0.count) }
        if count > 0 { rest = rest.dropFirst(count) }
        if rest.isEmpty || (count < 0 && errno != EAGAIN) { child.closeInput() }
      }
      if waiting[1].revents != 0 {
        let count = read(child.output, &buffer, buffer.count)
        if count > 0 { output += buffer[0..<count] } else { isOpen.output = false }
      }
      if waiting[2].revents != 0 {
        let count = read(child.errors, &buffer, buffer.count)
        if count > 0 { errors += buffer[0..<count] } else { isOpen.errors = false }
      }
    }
    ending = child.wait()
  }

  /// Runs `script` in a shell with the tool as `$0`.
  static func shell(_ script: String) throws -> ToolRun { try ToolRun(shell: script) }

  private init(shell script: String) throws {
    var child = try ChildProcess("/bin/bash", ["-c", script, Self.path], output: .pipe, errors: .pipe)
    output = []
    errors = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    // Scripts in these tests say little on standard error: a pipe holds it while the output is read.
    while case let count = read(child.output, &buffer, buffer.count), count > 0 { output += buffer[0..<count] }
    while case let count = read(child.errors, &buffer, buffer.count), count > 0 { errors += buffer[0..<count] }
    child.closeOutput()
    ending = child.wait()
  }

  /// The executable lies beside the test bundle, which is the first argument that names one.
  static let path: String = {
    let bundle = CommandLine.arguments.first { $0.contains(".xctest") } ?? CommandLine.arguments[0]
    var directory = bundle.split(separator: "/", omittingEmptySubsequences: false)
    while let last = directory.popLast(), !last.hasSuffix(".xctest") {}
    if directory.isEmpty {
      directory = ChildProcess.ownPath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    }
    return (directory + ["strandline"]).joined(separator: "/")
  }()
}
