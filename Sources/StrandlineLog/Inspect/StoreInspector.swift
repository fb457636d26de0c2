/// Looks into a store, a segment file, or a piece of one, whatever its state. Opens nothing for writing and takes no lock.
///
/// Beside a live writer files may vanish and the root may change under the reader's hands; whole answers are then made anew, up
/// to three times, before ``LogError/generationGone`` is thrown. Memory is bounded by the largest frame and the number of files.
@_spi(Engine) public struct StoreInspector: Sendable {
  /// What is looked at.
  @_spi(Engine) public enum Target: Hashable, Sendable {
    case store
    case segment
    /// Bytes of a segment with this salt, the first of them at this position.
    case piece(salt: UInt64, lsn: LSN)
  }

  /// Absolute.
  public let path: String
  public let target: Target
  /// Whether damage is searched for the one bit that explains it; costs up to 50 ms a damaged frame.
  public var searchesBits = true
  let environment: Environment

  private static let attemptCountMax = 3

  /// - Parameter piece: salt and position of the first byte, for a file that lacks the segment's header.
  /// - Throws: ``LogError/noStore(path:)`` if there is no such path, ``LogError/unsupportedFormat(file:detail:)`` if it is
  ///   neither a directory nor a regular file, ``LogError/ioFailed(_:)``.
  public init(
    path: String, piece: (salt: UInt64, lsn: LSN)? = nil, environment: Environment = .system
  ) throws(LogError) {
    self.environment = environment
    self.path = try StoreDirectory.absolute(path)
    let fileSystem = environment.fileSystem
    let status: FileStatus?
    do throws(Errno) {
      status = try fileSystem.statusIfPresent(at: self.path)
    } catch {
      throw .ioFailed(IOFailure(operation: .status, path: self.path, errno: error))
    }
    guard let status else { throw .noStore(path: self.path) }
    switch status.kind {
    case .file: target = piece.map { .piece(salt: $0.salt, lsn: $0.lsn) } ?? .segment
    case .directory: target = .store
    case .other:
      // A link to a directory is fine; a link to a file, a FIFO or a device is not read.
      do throws(Errno) {
        _ = try fileSystem.list(self.path)
      } catch {
        throw .unsupportedFormat(file: self.path, detail: error == .noSuchFile ? .brokenLink : .notAStore)
      }
      target = .store
    }
  }

  private var directory: StoreDirectory { StoreDirectory(path: path, fileSystem: environment.fileSystem) }

  /// META, headers, layers, lock.
  public func survey() throws(LogError) -> StoreSurvey {
    func isSuspect(_ survey: StoreSurvey) -> Bool { survey.chainError != nil }
    return try settled(isSuspect: isSuspect) { (survey) throws(LogError) in survey }
  }

  /// A survey, and what it and the end of the log say about the store.
  public func condition() throws(LogError) -> StoreCondition {
    func isSuspect(_ condition: StoreCondition) -> Bool { (condition.worst ?? .note) >= .finding }
    return try settled(isSuspect: isSuspect) { (survey) throws(LogError) in try StoreCondition(survey) }
  }

  /// Calls `body` with a survey; where files vanished or the root changed under it, with a new one.
  ///
  /// - Parameter isSuspect: whether an answer could owe to a root that changed meanwhile, and is to be had again if one did.
  /// - Throws: ``LogError/generationGone`` where each answer was one that the next look at META put in doubt.
  private func settled<Result>(
    isSuspect: (Result) -> Bool, _ body: (StoreSurvey) throws(LogError) -> Result
  ) throws(LogError) -> Result {
    var attempt = 1
    while true {
      do throws(LogError) {
        let survey = try look()
        let result = try body(survey)
        guard target == .store, isSuspect(result) else { return result }
        let now = try RootInspection.read(in: directory, searchesBits: false)
        let lock = LockState.of(directory)
        if now.isUnchanged(since: survey.root), lock.isHeld == survey.lock.isHeld { return result }
        throw LogError.generationGone
      } catch {
        guard error == .generationGone, attempt < Self.attemptCountMax else { throw error }
      }
      attempt += 1
    }
  }

  private func look() throws(LogError) -> StoreSurvey {
    switch target {
    case .store: try StoreSurvey.read(directory, searchesBits: searchesBits)
    case .segment: try StoreSurvey.ofSegment(path, in: environment.fileSystem, searchesBits: searchesBits)
    case .piece(let salt, let lsn): try StoreSurvey.ofPiece(path, salt: salt, lsn: lsn, in: environment.fileSystem)
    }
  }

  /// Proves everything.
  ///
  /// - Parameters:
  ///   - layers: proves the layers that META names; without it only their lengths are compared.
  ///   - progress: told the number of bytes that were proved so far, from any thread.
  public func verify(
    threadCount: Int = 1, layers: LayerProver? = nil, progress: (@Sendable (Int64) -> Void)? = nil
  ) throws(LogError) -> VerifyReport {
    func isSuspect(_ report: VerifyReport) -> Bool { (report.worst ?? .note) >= .finding }
    return try settled(isSuspect: isSuspect) { (survey) throws(LogError) in
      try StoreVerifier(
        condition: StoreCondition(survey), searchesBits: searchesBits, threadCount: threadCount, proveLayer: layers,
        progress: progress
      ).run()
    }
  }

  /// Calls `body` with the condition of the store, and again with a new one where files vanished under it; for work that hands results
  /// out on the way and knows where it was.
  public func resuming<Result>(_ body: (StoreCondition) throws -> Result) throws -> Result {
    for _ in 1..<Self.attemptCountMax {
      do {
        return try body(try condition())
      } catch LogError.generationGone {
        continue
      }
    }
    return try body(try condition())
  }
}
