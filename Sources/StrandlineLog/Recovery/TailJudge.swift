/// Looks at the end of a segment and gathers the evidence for ``TailVerdict``. Writes nothing.
///
/// Two passes. The first walks headers, then searches everything behind the last good one for frames that prove
/// themselves, so that each promise in the file is known. The second proves the bodies of what no promise covers: those frames
/// may be torn and must not be believed by their headers. Bodies in front of the promise were confirmed by a sync; replay proves
/// them, and damage there is corruption whatever follows.
struct TailJudge {
  let segment: SegmentFile
  /// Where the segment's frames begin; chain state in front of them.
  let start: ChainState
  let rootPromise: TailEvidence.Promise
  /// Prove every body, not only those that no promise covers.
  var provesAllBodies = false

  /// One place in the first pass to start the second from without walking the segment again.
  private struct Checkpoint {
    var state: ChainState
    var frameCount: Int
    var statedPromise: LSN
  }

  /// - Parameter beforeSecondLook: called once with F between the passes; the opener syncs the file there and drops its cache
  ///   from F on, so that the second pass sees what the device holds. Without it there is no second pass where F leaves nothing to prove.
  func examine(
    beforeSecondLook: ((LSN) throws(LogError) -> Void)? = nil
  ) throws(LogError) -> TailEvidence {
    let first = try look(
      from: Checkpoint(state: start, frameCount: 0, statedPromise: .zero), provingBodies: provesAllBodies)
    let promise = first.evidence.promise.lsn
    if provesAllBodies { return first.evidence }
    if let beforeSecondLook {
      try beforeSecondLook(promise)
    } else if promise >= first.evidence.verifiedEnd {
      return first.evidence
    }
    let checkpoint = first.checkpoints.last { $0.state.lsn <= promise } ?? first.checkpoints[0]
    var second = try look(from: checkpoint, provingBodiesFrom: promise)
    // A promise seen once was made, whatever the second look still finds of the frame that carried it.
    second.evidence.promise.raise(to: promise, first.evidence.promise.source)
    return second.evidence
  }

  private func look(
    from begin: Checkpoint, provingBodies: Bool = false, provingBodiesFrom promise: LSN = .max
  ) throws(LogError) -> (evidence: TailEvidence, checkpoints: [Checkpoint]) {
    let byteCount = try segment.byteCount()
    var scanner = SegmentScanner(segment, from: begin.state, end: byteCount)
    var checkpoints = [begin]
    var frameCount = begin.frameCount
    var stated = begin.statedPromise
    var complete = begin
    var found = rootPromise
    found.raise(to: stated, .frame)
    let stop: SegmentScanner.Stop
    walk: while true {
      let step: SegmentScanner.Step
      do throws(Errno) {
        step = try scanner.next(provingBody: provingBodies || scanner.state.lsn >= promise)
      } catch {
        throw .ioFailed(segment.failure(.read, error))
      }
      switch step {
      case .stop(let reason):
        stop = reason
        break walk
      case .frame(let frame):
        frameCount += 1
        if frame.header.durable > stated {
          stated = frame.header.durable
          found.raise(to: stated, .frame)
        }
        if !scanner.state.isInsideCommit {
          complete = Checkpoint(state: scanner.state, frameCount: frameCount, statedPromise: stated)
          if scanner.state.lsn.rawValue - checkpoints[checkpoints.count - 1].state.lsn.rawValue > 1 << 20 {
            checkpoints.append(complete)
          }
        }
      }
    }
    let verifiedEnd = scanner.state.lsn
    let behind = try lookBehind(segment.offset(of: verifiedEnd), byteCount: byteCount)
    let isMoving = behind.frameCount > 0 ? try goesOn(behind: scanner.state, byteCount: byteCount) : false
    if !isMoving { found.raise(to: behind.promise, .laterFrame) }
    let evidence = TailEvidence(
      verifiedEnd: verifiedEnd, commitEnd: complete.state.lsn, promise: found, stop: stop, state: complete.state,
      fileByteCount: byteCount, contentEnd: behind.contentEnd, laterFrameCount: behind.frameCount,
      laterSequenceMax: behind.sequenceMax,
      isMoving: isMoving,
      isZeroBehind: behind.isZero, frameCount: complete.frameCount, statedPromise: complete.statedPromise)
    return (evidence, checkpoints)
  }

  /// Whether the frame that did not verify a moment ago does now, as it does beside a writer and never on a file at rest.
  private func goesOn(behind state: ChainState, byteCount: Int64) throws(LogError) -> Bool {
    var scanner = SegmentScanner(segment, from: state, end: byteCount)
    do throws(Errno) {
      if case .frame = try scanner.next(provingBody: true) { return true }
      return false
    } catch {
      throw .ioFailed(segment.failure(.read, error))
    }
  }

  private struct Behind {
    var isZero = true
    var contentEnd: Int64
    var frameCount = 0
    var sequenceMax = SequenceNumber.zero
    var promise = LSN.zero
  }

  /// Looks at every byte behind `offset`: is anything there, and does any eight-byte step begin a header that proves itself?
  private func lookBehind(_ offset: Int64, byteCount: Int64) throws(LogError) -> Behind {
    var behind = Behind(contentEnd: offset)
    var window = FileWindow(fileSystem: segment.fileSystem, file: segment.file, end: byteCount)
    var place = offset
    let stride = 128 << 10
    while place < byteCount {
      let bytes: UnsafeRawBufferPointer
      do throws(Errno) {
        bytes = try window.bytes(at: place, count: stride + FrameHeader.byteCount - 8)
      } catch {
        throw .ioFailed(segment.failure(.read, error))
      }
      // The file became shorter than it was a moment ago.
      guard !bytes.isEmpty else { break }
      if !bytes.isAllZero {
        behind.isZero = false
        if let last = bytes.lastIndex(where: { $0 != 0 }) { behind.contentEnd = place + Int64(last) + 1 }
        var step = 0
        while step < stride, step + FrameHeader.byteCount <= bytes.count {
          let lsn = segment.lsn(at: place + Int64(step))
          let head = bytes.slice(step, FrameHeader.byteCount)
          if FrameHeader.provesItself(head, salt: segment.header.salt, lsn: lsn) {
            behind.frameCount += 1
            let durable = LSN(head.u64(32))
            // No frame can vouch for what lies behind its own place.
            if durable <= lsn { behind.promise = max(behind.promise, durable) }
            let sequence = SequenceNumber(head.u64(16))
            if sequence <= .max { behind.sequenceMax = max(behind.sequenceMax, sequence) }
          }
          step += 8
        }
        place += Int64(stride)
      } else {
        do throws(Errno) {
          place = try window.endOfHole(from: place + Int64(stride))
        } catch {
          throw .ioFailed(segment.failure(.read, error))
        }
      }
    }
    return behind
  }
}

extension TailJudge {
  /// The judge of a store's last segment: META's promises count as well.
  init(_ segment: SegmentFile, root: RootSlot?, provesAllBodies: Bool = false) {
    var promise = TailEvidence.Promise(lsn: .zero, source: .none)
    if let root {
      promise.raise(to: root.durableMark, .durableMark)
      promise.raise(to: root.anchor.lsn, .anchor)
    }
    self.init(
      segment: segment, start: ChainState(startOf: segment.header), rootPromise: promise,
      provesAllBodies: provesAllBodies)
  }
}
