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
        throw .unsupportedFormat(file: self.path, detail: .notAStore)
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

  /// Calls `body` with a survey; where files vanished or the root changed under it, with a new one.
  ///
  /// - Parameter isSuspect: whether an answer could owe to a root that changed meanwhile, and is to be had again if one did.
  public func settled<Result>(
    isSuspect: (Result) -> Bool, _ body: (StoreSurvey) throws(LogError) -> Result
  ) throws(LogError) -> Result {
    var attempt = 1
    while true {
      do throws(LogError) {
        let survey = try look()
        let result = try body(survey)
        guard target == .store, isSuspect(result), attempt < Self.attemptCountMax else { return result }
        let now = try RootInspection.read(in: directory, searchesBits: false)
        let lock = LockState.of(directory)
        if now.root == survey.root.root, lock.isHeld == survey.lock.isHeld { return result }
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
    func isSuspect(_ report: VerifyReport) -> Bool { (report.worst ?? .note) >= .corruption }
    return try settled(isSuspect: isSuspect) { (survey) throws(LogError) in
      try StoreVerifier(
        survey: survey, searchesBits: searchesBits, threadCount: threadCount, proveLayer: layers, progress: progress
      ).run()
    }
  }

  /// A survey, and the end of the last segment; nil if there is none with a header.
  public func tail() throws(LogError) -> (survey: StoreSurvey, tail: TailInspection?) {
    func isSuspect(_ answer: (survey: StoreSurvey, tail: TailInspection?)) -> Bool {
      answer.tail?.isCorrupt ?? (answer.survey.chainError != nil)
    }
    return try settled(isSuspect: isSuspect) { (survey) throws(LogError) in (survey, try tail(of: survey)) }
  }

  /// Calls `body` with a survey, and again with a new one where files vanished under it; for work that hands results out on the way
  /// and knows where it was.
  public func resuming<Result>(_ body: (StoreSurvey) throws -> Result) throws -> Result {
    for _ in 1..<Self.attemptCountMax {
      do {
        return try body(try survey())
      } catch LogError.generationGone {
        continue
      }
    }
    return try body(try survey())
  }

  public func tail(of survey: StoreSurvey) throws(LogError) -> TailInspection? {
    guard let active = survey.active, let header = active.header, survey.piece == nil else { return nil }
    let segment = try SegmentFile(inspecting: active.path, header: header, in: environment.fileSystem)
    return try TailInspection.examine(segment, root: survey.root.root, isLocked: survey.lock.isHeld)
  }
}
