/// What a walk over everything that is stored has found.
public enum ScrubFinding: Hashable, Sendable {
  /// Bytes that were right once are not what they say they are.
  case damaged(CorruptionReport)
  /// The device did not answer, which says nothing of the bytes.
  case unreadable(IOFailure)

  /// Nil for errors of another kind.
  @_spi(Engine) public init?(_ error: LogError) {
    switch error {
    case .corrupt(let report): self = .damaged(report)
    case .ioFailed(let failure): self = .unreadable(failure)
    default: return nil
    }
  }

  /// The file it is about, absolute.
  public var file: String {
    switch self {
    case .damaged(let report): report.file
    case .unreadable(let failure): failure.path
    }
  }
}
