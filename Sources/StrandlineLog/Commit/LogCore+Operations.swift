internal import Glibc

// Operations that need the lane for themselves: reset and its completion, roots, releases, copies.

extension LogCore {
  // MARK: Reset

  func reset(
    carrying records: [[UInt8]], base: [LayerEntry], cause: UInt32, keepCopy: Bool, copyName: String?
  ) throws(LogError) -> ResetReport {
    let list = try Self.recordList(records)
    guard base.count <= LayerEntry.countMax else {
      throw .limitExceeded(
        Limit(name: .layerCount, value: UInt64(base.count), maximum: UInt64(LayerEntry.countMax)))
    }
    let first = published.withLock { $0.segments.first }
    let report = try withWriter { (writer) throws(LogError) in
      try writer.beginWriting()
      var keptCopy: String?
      if keepCopy { keptCopy = try self.keepCopy(writer, named: copyName) }
      let payload = ResetPayload(
        epoch: writer.chain.epoch + 1, cause: cause, time: environment.clock.wallMilliseconds(), base: base)
      let frame = EncodedFrame(
        kind: .reset, raw: payload.encoded(records: list), recordCount: records.count, compresses: false)
      try writer.writeReset(frame, payload)
      return ResetReport(
        epoch: payload.epoch, position: writer.position, keptCopy: keptCopy,
        voidedSegmentCount: Int(writer.segment.header.ordinal - (first?.ordinal ?? writer.segment.header.ordinal)),
        voidedByteCount: writer.chain.lsn.rawValue - (first?.baseLSN.rawValue ?? 0))
    }
    options.observer?(.reset(epoch: report.epoch))
    if let committer {
      committer.submit { [weak self] in self?.completeReset() }
    } else {
      completeReset()
    }
    return report
  }

  private static func recordList(_ records: [[UInt8]]) throws(LogError) -> [UInt8] {
    var list: [UInt8] = []
    for record in records {
      var length = [UInt8](repeating: 0, count: Varint.byteCountMax)
      let count = length.withUnsafeMutableBytes { bytes in
        bytes.baseAddress.map { Varint.write(UInt64(record.count), to: $0) } ?? 0
      }
      list += length[..<count]
      list += record
      guard list.count <= ResetPayload.carriedByteCountMax else {
        throw .limitExceeded(
          Limit(
            name: .carriedByteCount, value: UInt64(list.count), maximum: UInt64(ResetPayload.carriedByteCountMax)))
      }
    }
    return list
  }

  /// Takes the steps after a reset's commit point: META, then the files that nothing needs any more. What cannot be done now is done by
  /// the next open.
  func completeReset() {
    do throws(LogError) {
      let names: [String]? = try withWriter { (writer) throws(LogError) in
        guard let reset = writer.unfinishedReset else { return nil }
        let oldLayers = writer.root.current.layers
        try writer.writeRoot(both: true) { slot in
          ResetCompletion.apply(
            to: &slot, payload: reset.payload, resetSequence: reset.sequence, ordinal: reset.ordinal,
            before: reset.before)
        }
        writer.unfinishedReset = nil
        // Nothing lives in the RESET's own segment when it carried nothing and nothing came after it: leave it too.
        if reset.recordCount == 0, writer.chain.lsn == reset.end { _ = try self.leaveSegment(of: writer) }
        return self.releaseInMemory(writer, layers: oldLayers)
      }
      if let names { remove(names) }
    } catch {
      // A full disk, a poisoned or closed log: the RESET stands, and opening finishes it.
    }
  }

  /// A segment that holds less is not worth another one.
  private static let leftByteCountMin: UInt64 = 1 << 20

  /// Begins the next segment and makes it the first that anything needs; false on a full disk. Nothing that counts may be in the one
  /// before.
  private func leaveSegment(of writer: Writer) throws(LogError) -> Bool {
    do throws(LogError) {
      try writer.roll()
    } catch {
      // Without space for another segment this one stays.
      guard case .outOfSpace = error else { throw error }
      return false
    }
    let header = writer.segment.header
    let state = writer.chain
    try writer.writeRoot(both: true) { slot in
      slot.firstLiveOrdinal = header.ordinal
      slot.anchor = RootSlot.Anchor(
        ordinal: header.ordinal, lsn: state.lsn, headTag: state.tag, sequence: state.sequence)
    }
    return true
  }

  // MARK: Roots and releases

  func publishRoot(layers: [LayerEntry], anchor: Position?, epoch: UInt64) throws(LogError) {
    guard layers.count <= LayerEntry.countMax else {
      throw .limitExceeded(
        Limit(name: .layerCount, value: UInt64(layers.count), maximum: UInt64(LayerEntry.countMax)))
    }
    completeReset()
    let names = try withWriter { (writer) throws(LogError) in
      guard writer.chain.epoch == epoch, anchor?.epoch ?? epoch == epoch, writer.unfinishedReset == nil else {
        throw .epochEnded(epoch)
      }
      // No root may name what a sync has not covered.
      try writer.sync()
      let place = try anchor.map { (anchor) throws(LogError) in
        try self.place(behind: anchor, headers: self.headers(with: writer), end: writer.chain.lsn)
      }
      let oldLayers = writer.root.current.layers
      try writer.beginWriting()
      try writer.writeRoot(both: true) { slot in
        slot.layers = layers
        guard let place else { return }
        slot.anchor = RootSlot.Anchor(
          ordinal: place.segment.header.ordinal, lsn: place.state.lsn, headTag: place.state.tag,
          sequence: place.state.sequence)
      }
      return self.releaseInMemory(writer, layers: oldLayers)
    }
    remove(names)
  }

  func releaseSegments(before sequence: SequenceNumber, leavesActive: Bool) throws(LogError) -> Int {
    let names = try withWriter { (writer) throws(LogError) in
      let byteCount = writer.chain.lsn.rawValue - writer.segment.header.baseLSN.rawValue
      if leavesActive, writer.chain.sequence < sequence, writer.chain.sequence == writer.root.current.anchor.sequence,
        writer.unfinishedReset == nil, byteCount >= Self.leftByteCountMin
      {
        try writer.beginWriting()
        if try self.leaveSegment(of: writer) { return self.releaseInMemory(writer, layers: []) }
      }
      let headers = self.headers(with: writer)
      let anchor = writer.root.current.anchor.ordinal
      // A segment's last commit is the base of the next one.
      var first = headers[0].ordinal
      for (header, next) in zip(headers, headers.dropFirst())
      where header.ordinal < anchor && next.baseSequence < sequence {
        first = next.ordinal
      }
      guard first > writer.root.current.firstLiveOrdinal else { return [String]() }
      try writer.beginWriting()
      try writer.writeRoot(both: true) { $0.firstLiveOrdinal = first }
      return self.releaseInMemory(writer, layers: [])
    }
    remove(names)
    return names.count
  }

  /// All segments from the first live one to the one being written. The lane is held.
  private func headers(with writer: Writer) -> [SegmentHeader] {
    published.withLock { state in
      state.segments += writer.takeBegun()
      return state.segments
    }
  }

  /// Forgets segments in front of the first live one and answers the names of the files that go, lowest first.
  private func releaseInMemory(_ writer: Writer, layers: [LayerEntry]) -> [String] {
    let root = writer.root.current
    _ = headers(with: writer)
    let live = Set(root.layers.map(\.fileName))
    let voided = layers.map(\.fileName).filter { !live.contains($0) }
    // The segment that is written to may have been begun just now, and be the only one that stays.
    let headers = headers(with: writer)
    let released = published.withLock { state in
      state.segments = headers
      defer { state.segments.removeAll { $0.ordinal < root.firstLiveOrdinal } }
      return state.segments.filter { $0.ordinal < root.firstLiveOrdinal }.map(\.fileName.description)
    }
    return released + voided
  }

  /// Removes files that META does not name any more; those that a copy needs go when it is done.
  private func remove(_ names: [String]) {
    let isPinned = published.withLock { state in
      guard !state.pins.isEmpty else { return false }
      state.heldBack += names
      return true
    }
    if isPinned || names.isEmpty { return }
    for name in names {
      let path = directory.path(of: name)
      do throws(Errno) {
        try directory.fileSystem.unlinkIfPresent(path)
      } catch {
        options.observer?(.leftOver(file: path, IOFailure(operation: .unlink, path: path, errno: error)))
      }
    }
    do throws(LogError) { try directory.syncEntries() } catch {
      // The names may come back after a power cut; the next open removes them again.
    }
  }

  // MARK: Copies

  /// Puts a linked copy of everything up to now beside the log. The lane is held.
  private func keepCopy(_ writer: Writer, named chosen: String?) throws(LogError) -> String {
    try writer.sync()
    try writer.roll()
    let headers = headers(with: writer).filter { $0.ordinal < writer.segment.header.ordinal }
    let name =
      chosen
      ?? KeptCopyName.make(milliseconds: environment.clock.wallMilliseconds(), randomBits: environment.randomBits())
    let target = directory.path(of: name)
    let source = StoreCopy.Source(
      headers: headers, end: writer.segment.header.baseLSN, endTag: writer.segment.header.predecessor.headTag,
      root: writer.root.current)
    _ = try StoreCopy(directory: directory, environment: environment)
      .make(source, at: target, temporary: target + ".tmp", method: .link)
    return target
  }

  func backup(to path: String) throws(LogError) -> BackupReport {
    let target = try StoreDirectory.absolute(path)
    completeReset()
    let (source, position, pin) = try withWriter { (writer) throws(LogError) in
      try writer.sync()
      let headers = self.headers(with: writer)
      let source = StoreCopy.Source(
        headers: headers, end: writer.chain.lsn, endTag: writer.chain.tag, root: writer.root.current)
      let pin = self.published.withLock { state in
        let token = state.token()
        state.pins[token] = headers.first?.ordinal ?? 0
        return token
      }
      return (source, writer.position, pin)
    }
    defer { unpin(pin) }
    let temporary = "\(target).tmp-\(hexadecimal(environment.randomBits()))"
    let byteCount = try StoreCopy(directory: directory, environment: environment)
      .make(source, at: target, temporary: temporary, method: .copy)
    return BackupReport(
      path: target, position: position, byteCount: byteCount, segmentCount: source.headers.count)
  }

  private func unpin(_ pin: UInt64) {
    let names = published.withLock { state in
      state.pins[pin] = nil
      guard state.pins.isEmpty else { return [String]() }
      defer { state.heldBack = [] }
      return state.heldBack
    }
    remove(names)
  }

  // MARK: Reading

  /// Where a reader begins that has seen everything up to `position`.
  func place(after position: Position?) throws(LogError) -> CommitLocator.Place {
    try checkProcess()
    let seen = published.withLock { $0 }
    if seen.isClosed { throw .closed }
    if seen.segments.isEmpty { throw .noStore(path: directory.path) }
    guard let position else {
      let locator = CommitLocator(directory: directory, headers: seen.segments, end: seen.durableLSN)
      do throws(CommitLocator.Failure) {
        return try locator.place(ofEpoch: seen.durable.epoch)
      } catch {
        throw answer(error, position: .start, seen)
      }
    }
    return try place(behind: position, headers: seen.segments, end: seen.durableLSN)
  }

  /// The position of a commit that a sync has covered.
  func position(of sequence: SequenceNumber) throws(LogError) -> Position {
    try checkProcess()
    let seen = published.withLock { $0 }
    if seen.isClosed { throw .closed }
    if sequence == seen.durable.sequence { return seen.durable }
    let locator = CommitLocator(directory: directory, headers: seen.segments, end: seen.durableLSN)
    do throws(CommitLocator.Failure) {
      let state = try locator.place(behind: sequence).state
      return Position(epoch: state.epoch, sequence: state.sequence, tag: state.commitTag)
    } catch {
      throw answer(error, position: Position(epoch: seen.epoch, sequence: sequence, tag: 0), seen)
    }
  }

  /// Right behind the commit that `position` names, if it is the one that stands there.
  private func place(
    behind position: Position, headers: [SegmentHeader], end: LSN
  ) throws(LogError) -> CommitLocator.Place {
    let locator = CommitLocator(directory: directory, headers: headers, end: end)
    do throws(CommitLocator.Failure) {
      let place = try locator.place(behind: position.sequence)
      guard place.state.epoch == position.epoch, place.state.commitTag == position.tag else { throw .absent }
      return place
    } catch {
      throw answer(error, position: position, published.withLock { $0 })
    }
  }

  private func answer(_ failure: CommitLocator.Failure, position: Position, _ seen: Published) -> LogError {
    switch failure {
    case .failed(let error): return error
    case .absent: return .historyForked(at: position.sequence)
    case .released:
      if isReadOnly, seen.segments.contains(where: { $0.baseSequence < position.sequence }) { return .generationGone }
      if position.epoch < seen.epoch { return .resetSince(epoch: seen.epoch) }
      return .historyTrimmed(first: seen.segments.first?.baseSequence.next ?? .zero)
    }
  }

  /// Suspends until something newer than `position` is durable; false when the log is closed or the task cancelled.
  func waitForNews(since position: Position) async -> Bool {
    if isReadOnly { return false }
    let token = published.withLock { $0.token() }
    await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        let isNow = published.withLock { state in
          if state.durable != position || state.isClosed || state.poison != nil || Task.isCancelled { return true }
          state.waiting[token] = continuation
          return false
        }
        if isNow { continuation.resume() }
      }
    } onCancel: {
      published.withLock { $0.waiting.removeValue(forKey: token) }?.resume()
    }
    return published.withLock { !$0.isClosed && ($0.poison == nil || $0.durable != position) } && !Task.isCancelled
  }

  // MARK: Off the pool

  /// Runs `body` on the committer thread, or here if there is none.
  func onCommitter<Value: Sendable>(
    _ body: @escaping @Sendable (LogCore) throws(LogError) -> Value
  ) async throws -> Value {
    // A child process has no such thread, and would wait for ever.
    try checkProcess()
    guard let committer else { return try body(self) }
    return try await withUnsafeThrowingContinuation { continuation in
      committer.submit { continuation.resume(with: Result { () throws(LogError) in try body(self) }.mapError { $0 }) }
    }
  }

  /// Runs `body` on a thread made for it: it may take long.
  func onOwnThread<Value: Sendable>(
    _ body: @escaping @Sendable (LogCore) throws(LogError) -> Value
  ) async throws -> Value {
    let thread = HelperThread(name: "strand-work", clock: environment.clock)
    do throws(Errno) {
      try thread.start()
    } catch {
      throw LogError.ioFailed(IOFailure(operation: .startThread, path: directory.path, errno: error))
    }
    return try await withUnsafeThrowingContinuation { continuation in
      thread.submit {
        continuation.resume(with: Result { () throws(LogError) in try body(self) }.mapError { $0 })
        thread.stop()
      }
    }
  }
}
