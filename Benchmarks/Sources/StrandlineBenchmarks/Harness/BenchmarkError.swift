/// What ends a command of the bench; the exit codes are those of the `strandline` tool.
enum BenchmarkError: Error {
  /// Wrong arguments: exit 2.
  case usage(String)
  /// Subjects disagree, or a soak found something: exit 1.
  case finding(String)
  /// The operating system refused: exit 4.
  case ioFailed(operation: String, path: String, errno: Int32)
  /// A subject or a child process failed: exit 4.
  case failed(String)
}
