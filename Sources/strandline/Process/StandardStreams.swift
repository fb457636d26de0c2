import Glibc

/// Descriptors 0, 1 and 2 as the process was given them.
enum StandardStreams {
  /// Gives those that are closed something to stand on, so that no file of a store gets their number, and with it what is meant for a
  /// terminal. Called once, before anything is opened.
  ///
  /// They stay useless: opened the wrong way round, they answer reads and writes as a closed one does.
  static func occupyClosed() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      // The lowest free number is the one that is wanted.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Throws unless lines can come from standard input; for commands that would make something first.
  static func requireInput() throws(Failure) {
    let flags = fcntl(STDIN_FILENO, F_GETFL)
    guard flags >= 0, flags & O_ACCMODE != O_WRONLY else {
      throw Failure(.ioFailure, "standard input is closed, and lines were to come from there. Nothing was made.")
    }
    var status = stat()
    guard fstat(STDIN_FILENO, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR else {
      throw Failure(.ioFailure, "standard input is a directory, and lines were to come from there. Nothing was made.")
    }
  }
}
