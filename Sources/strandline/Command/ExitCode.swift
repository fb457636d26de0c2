/// What the shell is told. The same for every command.
enum ExitCode: Int32 {
  case success = 0
  /// Something was found that the user asked about: a torn tail, a difference, a failed case.
  case finding = 1
  case usage = 2
  /// Corruption, or a file that is not ours or newer than we are.
  case corruption = 3
  /// The operating system refused, or a remote could not be reached or refused.
  case ioFailure = 4
  case inUse = 5
  case interrupted = 130

  /// The graver of two: an I/O error before corruption before a finding.
  func worst(_ other: ExitCode) -> ExitCode { rawValue >= other.rawValue ? self : other }
}
