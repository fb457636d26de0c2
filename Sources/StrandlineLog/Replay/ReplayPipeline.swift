internal import CStrandline
internal import Glibc

/// The threads of a parallel replay and the units between them.
final class ReplayPipeline: @unchecked Sendable {
  /// A unit and, when it is decoded, its batch. Owned by one thread at a time: by the source's turn, a decoder, the deliverer.
  final class Slot {
    var unit = ReplayUnit()
    var batch: ReplayBatch?
    var error: LogError?

    func decode() {
      do throws(LogError) { batch = try unit.decode() } catch { self.error = error }
    }

    func use(_ body: (inout ReplayBatch) throws(LogError) -> Void) throws(LogError) {
      guard var taken = batch.take() else { return }
      do throws(LogError) {
        try body(&taken)
      } catch {
        batch = consume taken
        throw error
      }
      batch = consume taken
    }
  }

  private struct State: ~Copyable {
    var free: [Slot]
    /// Units by number; decoded ones wait here for their turn.
    var done: [Int: Slot] = [:]
    var nextToRead = 0
    var nextToDeliver = 0
    var isReading = false
    /// The number behind the last unit, once the log has ended or failed to be read.
    var endNumber: Int?
    var endError: LogError?
    var isStopping = false
  }

  private let state: Monitor<State>
  private let source: Lock<ReplaySource>
  private let threadCount: Int
  private var threads: [pthread_t] = []

  init(_ source: consuming ReplaySource, threadCount: Int) {
    self.threadCount = threadCount
    self.source = Lock(source)
    state = Monitor(State(free: (0..<Self.slotCount(threadCount)).map { _ in Slot() }))
  }

  // A unit holds about 1 MiB stored and 2 MiB decoded: ten of them stay within 32 MiB.
  private static func slotCount(_ threadCount: Int) -> Int { max(threadCount + 1, min(threadCount * 2, 10)) }

  func start() throws(LogError) {
    for _ in 1..<threadCount {
      var handle = pthread_t()
      let argument = Unmanaged.passRetained(self).toOpaque()
      let failure = pthread_create(
        &handle, nil,
        { argument in
          guard let argument else { return nil }
          strandline_name_thread("strand-replay")
          let pipeline = Unmanaged<ReplayPipeline>.fromOpaque(argument).takeRetainedValue()
          while pipeline.work() {}
          return nil
        }, argument)
      guard failure == 0 else {
        Unmanaged<ReplayPipeline>.fromOpaque(argument).release()
        // Fewer threads replay the same log.
        return
      }
      threads.append(handle)
    }
  }

  func stop() {
    state.change { $0.isStopping = true }
    for thread in threads { pthread_join(thread, nil) }
    threads = []
  }

  func finalState() -> ChainState { source.withLock { $0.state } }

  /// The next unit in log order, decoded; nil at the end. Helps decoding while it is not ready.
  func next() throws(LogError) -> Slot? {
    enum Turn {
      case deliver(Slot)
      case help
      case end(LogError?)
    }
    while true {
      let turn: Turn = state.wait { state in
        if let slot = state.done.removeValue(forKey: state.nextToDeliver) {
          state.nextToDeliver += 1
          return .deliver(slot)
        }
        if state.endNumber == state.nextToDeliver { return .end(state.endError) }
        if state.endNumber == nil, !state.isReading, !state.free.isEmpty { return .help }
        return nil
      }
      switch turn {
      case .deliver(let slot):
        if let error = slot.error { throw error }
        return slot
      case .help: _ = readAndDecode()
      case .end(let error):
        if let error { throw error }
        return nil
      }
    }
  }

  func giveBack(_ slot: Slot) {
    if let batch = slot.batch.take() { slot.unit.reuse(batch) }
    state.change { $0.free.append(slot) }
  }

  /// One turn of a decoding thread; false when there is nothing left for it.
  private func work() -> Bool {
    let goesOn = state.wait { state -> Bool? in
      if state.isStopping || state.endNumber != nil { return false }
      return !state.isReading && !state.free.isEmpty ? true : nil
    }
    return goesOn && readAndDecode()
  }

  /// Takes a free slot, reads the next unit into it while no one else reads, and decodes it.
  private func readAndDecode() -> Bool {
    let taken: (slot: Slot, number: Int)? = state.look { state in
      guard !state.isStopping, !state.isReading, state.endNumber == nil, let slot = state.free.popLast() else {
        return nil
      }
      state.isReading = true
      return (slot, state.nextToRead)
    }
    guard let (slot, number) = taken else { return true }
    var failure: LogError?
    var isFilled = false
    do throws(LogError) {
      isFilled = try source.withLock { (source) throws(LogError) in try source.fill(&slot.unit) }
    } catch {
      failure = error
    }
    state.change { state in
      state.isReading = false
      if isFilled {
        state.nextToRead += 1
      } else {
        state.endNumber = number
        state.endError = failure
        state.free.append(slot)
      }
    }
    guard isFilled else { return false }
    slot.decode()
    state.change { $0.done[number] = slot }
    return true
  }
}
