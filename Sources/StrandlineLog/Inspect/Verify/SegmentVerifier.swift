/// Proves every byte of one segment file and says what is wrong with it.
struct SegmentVerifier {
  let directory: StoreDirectory
  let inspection: SegmentInspection
  let searchesBits: Bool
  /// The file begins somewhere inside a segment.
  let isPiece: Bool
  /// The tail's verdict, for the last segment.
  let tail: TailInspection?
  /// Where replay begins. What is damaged in front of it keeps nobody from opening the store.
  let replayStart: LSN

  struct Result: Sendable {
    var summary: SegmentSummary
    var findings = FindingList()
    /// The first damage that replay meets.
    var refusal: Finding?
    /// The chain behind the last frame; nil unless the segment has a header.
    var end: ChainState?
    var error: LogError?
  }

  private var path: String { inspection.path }

  func run() -> Result {
    var result = Result(summary: SegmentSummary(path: path))
    guard let header = inspection.header else { return result }
    do throws(LogError) {
      let segment = try SegmentFile(inspecting: path, header: header, in: directory.fileSystem)
      try walk(segment, &result)
    } catch {
      result.error = error
      if error != .generationGone { result.findings.add(Finding(error, path: path)) }
    }
    return result
  }

  // MARK: - Frames

  private func walk(_ segment: SegmentFile, _ result: inout Result) throws(LogError) {
    let byteCount = try segment.byteCount()
    var end = byteCount
    if let named = inspection.named {
      end = min(end, Int64(clamping: named.byteCount))
    } else if let cut = tail?.cut {
      // What follows was never acknowledged; the tail's own finding tells about it.
      end = segment.offset(of: cut)
    }
    let start = isPiece ? nil : ChainState(startOf: segment.header)
    var commits = CommitWalk(FrameWalk(segment, from: start, end: end, searchesBits: searchesBits))
    do throws(Errno) {
      while let step = try commits.next() { take(step, &result) }
    } catch {
      throw .ioFailed(segment.failure(.read, error))
    }
    result.end = commits.state
    if let named = inspection.named {
      try checkEnd(segment, named, byteCount: byteCount, &result)
    } else if tail == nil, commits.state.isInsideCommit {
      result.findings.add(
        Finding(
          .finding, .commitIncomplete, path, at: segment.offset(of: commits.state.commitStart),
          "the last commit, \(commits.state.sequence), has no end"))
    }
  }

  private func take(_ step: CommitWalk.Step, _ result: inout Result) {
    switch step {
    case .commit(let commit):
      result.summary.count(commit)
      switch commit.state {
      case .whole:
        if case .gap(let gap) = commit.content {
          result.findings.add(
            Finding(
              .note, .gap, path, at: commit.offset,
              "salvage could not keep commits \(gap.first) to \(gap.last) (\(gap.reason))"))
        }
      case .damaged: break
      case .beginningMissing:
        report(
          .commitIncomplete, at: commit.offset, commit.byteCount, "commit \(commit.sequence) has no beginning", &result)
      case .endMissing:
        report(.commitIncomplete, at: commit.offset, commit.byteCount, "commit \(commit.sequence) has no end", &result)
      }
    case .mark(let frame):
      result.summary.count(frame)
    case .frame(let frame):
      report(frame, &result)
    case .damage(let stretch):
      // Zeros at the end that nothing says were ever anything else.
      let isSpaceAhead = stretch.isZero && inspection.named == nil && stretch.lsn >= tail?.evidence.promise.lsn ?? .zero
      if isSpaceAhead { return }
      result.summary.damageCount += 1
      var flipped = stretch.singleBit
      flipped?.byte += Int(clamping: stretch.offset)
      report(
        .frameDamaged, at: stretch.offset, stretch.byteCount,
        stretch.isZero ? "zeros where a frame must be" : "no frame: \(stretch.reason)", &result, flippedBit: flipped)
    }
  }

  /// What is wrong with one frame by itself.
  private func report(_ frame: InspectedFrame, _ result: inout Result) {
    if let reason = frame.chainBreak {
      report(
        .chainBroken, at: frame.offset, Int64(frame.header.frameByteCount),
        "\(frame.header.kind) frame \(frame.header.sequence) does not continue the one in front of it: \(reason)",
        &result)
    }
    switch frame.body {
    case .whole: break
    case .cutShort(let missing):
      report(.frameDamaged, at: frame.offset, nil, "\(missing) bytes of the frame are missing", &result)
    case .damaged(let defect, let bit):
      var flipped = bit
      flipped?.byte += Int(clamping: frame.offset) + FrameHeader.byteCount
      report(
        .bodyDamaged, at: frame.offset + Int64(FrameHeader.byteCount), Int64(frame.header.storedByteCount),
        "payload of \(frame.header.kind) frame \(frame.header.sequence): \(defect)", &result, flippedBit: flipped)
    }
  }

  private func report(
    _ code: Finding.Code, at offset: Int64, _ byteCount: Int64?, _ message: String, _ result: inout Result,
    flippedBit: SingleBit? = nil
  ) {
    let finding = Finding(.corruption, code, path, at: offset, byteCount: byteCount, message, flippedBit: flippedBit)
    result.findings.add(finding)
    let isReplayed = inspection.header.map { $0.baseLSN.advanced(by: offset) >= replayStart } ?? false
    if isReplayed, result.refusal == nil { result.refusal = finding }
  }

  // MARK: - End of a closed segment

  private func checkEnd(
    _ segment: SegmentFile, _ named: SegmentHeader.Predecessor, byteCount: Int64, _ result: inout Result
  ) throws(LogError) {
    let namedEnd = Int64(clamping: named.byteCount)
    if byteCount < namedEnd {
      report(
        .segmentEnd, at: byteCount, namedEnd - byteCount,
        "the file ends here; the next segment says it has \(namedEnd) bytes", &result)
    } else if result.summary.damageCount == 0, let end = result.end, end.tag != named.headTag || end.isInsideCommit {
      report(
        .segmentEnd, at: namedEnd, nil,
        "the last frame has tag \(hexadecimal(end.tag)); the next segment says \(hexadecimal(named.headTag))", &result)
    }
    guard byteCount > namedEnd else { return }
    var search = HeadSearch(segment, end: byteCount)
    let behind: HeadSearch.Result
    do throws(Errno) {
      behind = try search.next(from: namedEnd, first: .max)
    } catch {
      throw .ioFailed(segment.failure(.read, error))
    }
    if let offset = behind.firstNonZero {
      result.findings.add(
        Finding(
          .corruption, .segmentEnd, path, at: offset, byteCount: byteCount - offset,
          "bytes behind the segment's end, which the next segment names as \(namedEnd); nothing reads them"))
    } else {
      result.findings.add(
        Finding(
          .note, .untrimmedSpace, path, at: namedEnd, byteCount: byteCount - namedEnd,
          "space kept ahead that was not given back"))
    }
  }
}
