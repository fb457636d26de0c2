import Glibc
import Synchronization

/// A program started by this one, with pipes to its streams. One owner; `wait` exactly once.
struct ChildProcess: ~Copyable {
  /// What one of the child's streams is connected to.
  enum Stream {
    /// A pipe; our end is in ``input``, ``output`` or ``errors``.
    case pipe
    /// The same as ours.
    case inherited
    /// `/dev/null`.
    case none
  }

  /// How a process ended.
  enum Ending: Equatable {
    case exited(Int32)
    case killed(signal: Int32)
  }

  let processID: pid_t
  /// Our ends of the pipes, -1 where there is none.
  private(set) var input: Int32
  private(set) var output: Int32
  private(set) var errors: Int32

  /// Held from making pipes to starting the child, so that no other child started meanwhile inherits our ends.
  private static let starting = Mutex(())

  /// Starts the program at `path`; `arguments` come behind its name. Signals are as a shell would set them.
  init(
    _ path: String, _ arguments: [String], input: Stream = .none, output: Stream = .inherited,
    errors: Stream = .inherited, environment: [String]? = nil
  ) throws(Failure) {
    let streams = [input, output, errors]
    let (processID, ends) = try Self.starting.withLock { _ throws(Failure) in
      try Self.start(path, arguments, streams, environment)
    }
    self.init(processID: processID, ends: ends)
  }

  private init(processID: pid_t, ends: [Int32]) {
    self.processID = processID
    input = ends[0]
    output = ends[1]
    errors = ends[2]
  }

  deinit { for end in [input, output, errors] where end >= 0 { Glibc.close(end) } }

  mutating func closeInput() {
    if input >= 0 { Glibc.close(input) }
    input = -1
  }

  mutating func closeOutput() {
    if output >= 0 { Glibc.close(output) }
    output = -1
  }

  func send(signal number: Int32) { Glibc.kill(processID, number) }

  /// Waits for the end of the process.
  func wait() -> Ending {
    var status: Int32 = 0
    while waitpid(processID, &status, 0) == -1, errno == EINTR {}
    // What WIFEXITED and its neighbours do; macros are not imported.
    let signal = status & 0x7F
    return signal == 0 ? .exited((status >> 8) & 0xFF) : .killed(signal: signal)
  }

  /// This program's own file, for starting it again.
  static let ownPath: String = {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes {
      readlink("/proc/self/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
    }
    return count > 0 ? String(decoding: buffer[0..<count], as: UTF8.self) : CommandLine.arguments[0]
  }()

  private static func start(
    _ path: String, _ arguments: [String], _ streams: [Stream], _ environment: [String]?
  ) throws(Failure) -> (processID: pid_t, ends: [Int32]) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    var ours: [Int32] = []
    var theirs: [Int32] = []
    defer { for end in theirs where end >= 0 { Glibc.close(end) } }
    for (number, stream) in streams.enumerated() {
      ours.append(-1)
      theirs.append(-1)
      switch stream {
      case .inherited: break
      case .none:
        posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0)
      case .pipe:
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
          let reason = String(cString: strerror(errno))
          for end in ours where end >= 0 { Glibc.close(end) }
          throw Failure(.ioFailure, "no pipe to \(path): \(reason)")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        ours[number] = number == 0 ? ends[1] : ends[0]
        theirs[number] = number == 0 ? ends[0] : ends[1]
        posix_spawn_file_actions_adddup2(&actions, theirs[number], Int32(number))
      }
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var processID: pid_t = 0
    let words = CStringArray([path] + arguments)
    let variables = environment.map { CStringArray($0) }
    // The pointers live as long as the objects, and the objects only as long as somebody says so.
    let result = withExtendedLifetime((words, variables)) {
      posix_spawn(&processID, path, &actions, &attributes, words.pointers, variables?.pointers ?? environ)
    }
    guard result == 0 else {
      for end in ours where end >= 0 { Glibc.close(end) }
      throw Failure(.ioFailure, "\(path) does not start: \(String(cString: strerror(result)))")
    }
    return (processID, ours)
  }
}

/// A null-terminated array of C strings that lives as long as this object.
private final class CStringArray {
  let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private let count: Int

  init(_ strings: [String]) {
    count = strings.count
    pointers = .allocate(capacity: count + 1)
    for (index, string) in strings.enumerated() { (pointers + index).initialize(to: strdup(string)) }
    (pointers + count).initialize(to: nil)
  }

  deinit {
    for index in 0..<count { free(pointers[index]) }
    pointers.deallocate()
  }
}
