internal import Glibc

/// Another process, its standard output read through a pipe.
struct ChildProcess: ~Copyable {
  let processID: pid_t
  private let output: CInt

  /// Starts `arguments[0]`, found along PATH. Standard error is shared with this process unless `isQuiet`.
  init(_ arguments: [String], environment: [String: String] = [:], isQuiet: Bool = false) throws {
    var ends: [CInt] = [0, 0]
    guard pipe(&ends) == 0 else {
      throw BenchmarkError.ioFailed(operation: "pipe", path: arguments[0], errno: errno)
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    posix_spawn_file_actions_addclose(&actions, ends[0])
    posix_spawn_file_actions_addclose(&actions, ends[1])
    if isQuiet { posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) }

    var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    var variables = Self.currentEnvironment.filter { variable in
      !environment.keys.contains { variable.hasPrefix("\($0)=") }
    }
    variables += environment.map { "\($0.key)=\($0.value)" }
    var pointers: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
    defer { for word in words + pointers { free(word) } }

    var processID = pid_t()
    let failure = posix_spawnp(&processID, arguments[0], &actions, nil, &words, &pointers)
    close(ends[1])
    guard failure == 0 else {
      close(ends[0])
      throw BenchmarkError.ioFailed(operation: "start", path: arguments[0], errno: failure)
    }
    self.processID = processID
    output = ends[0]
  }

  /// This program.
  static let ownPath = "/proc/self/exe"

  private static var currentEnvironment: [String] {
    var variables: [String] = []
    var next = environ
    while let variable = next.pointee {
      variables.append(String(cString: variable))
      next += 1
    }
    return variables
  }

  /// Appends what has come to `bytes`; false when the child has closed its output. Waits at most `milliseconds`.
  func read(into bytes: inout [UInt8], milliseconds: Int32 = -1) -> Bool {
    var poller = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    guard poll(&poller, 1, milliseconds) > 0 else { return true }
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let count = Glibc.read(output, &buffer, buffer.count)
    if count < 0 && errno == EINTR { return true }
    guard count > 0 else { return false }
    bytes.append(contentsOf: buffer[..<count])
    return true
  }

  func kill() { Glibc.kill(processID, SIGKILL) }

  enum End: Equatable {
    case exit(Int32)
    case signal(Int32)
  }

  /// Closes the pipe and waits for the end of the child.
  consuming func wait() -> End {
    close(output)
    var status: CInt = 0
    while waitpid(processID, &status, 0) < 0 && errno == EINTR {}
    let signal = status & 0x7f
    return signal == 0 ? .exit(status >> 8 & 0xff) : .signal(signal)
  }

  /// Runs a program to its end and returns what it printed; nil if it failed or is not there.
  static func output(of arguments: [String]) -> String? {
    guard let child = try? ChildProcess(arguments, isQuiet: true) else { return nil }
    var bytes: [UInt8] = []
    while child.read(into: &bytes) {}
    guard child.wait() == .exit(0) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}
