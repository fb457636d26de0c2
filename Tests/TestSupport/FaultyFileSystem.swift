internal import Glibc
public import StrandlineLog

/// Fails on cue: the n-th call, a call of a kind, by chance, by a script, once, k times or for ever.
///
/// Counts all calls, also those that it fails. The first fault that wants a call gets it, in the order they were planned.
public final class FaultyFileSystem: InterceptingFileSystem {
  /// How often a planned fault strikes.
  public enum Repetition: Sendable, Hashable {
    case once
    case times(Int)
    case forever
  }

  fileprivate struct Plan {
    let fault: Fault
    let operations: Set<FileOperation>?
    /// Calls that match and are let through first.
    var skipCount: Int
    /// nil: for ever.
    var remainingCount: Int?
  }

  fileprivate struct State {
    var counts: [FileOperation: Int] = [:]
    var callCount = 0
    var plans: [Plan] = []
    var script: (@Sendable (FileCall) -> Fault?)?
    var chance: (probability: Double, errnos: [Errno], operations: Set<FileOperation>?, generator: SeededGenerator)?
    var crashNumber: Int?
    var struckCalls: [FileCall] = []
  }

  public let base: any FileSystem
  public let names = DescriptorNames()
  private let state = TestLock(State())

  public init(_ base: any FileSystem) { self.base = base }

  // MARK: Plans

  /// Plans a fault for the call number `index` from now (0 is the next) among those of `operations`; nil is any kind.
  public func fail(
    _ operations: Set<FileOperation>? = nil, call index: Int = 0, with fault: Fault, _ repetition: Repetition = .once
  ) {
    let remaining: Int? =
      switch repetition {
      case .once: 1
      case .times(let count): count
      case .forever: nil
      }
    state.withLock {
      $0.plans.append(Plan(fault: fault, operations: operations, skipCount: index, remainingCount: remaining))
    }
  }

  /// Fails each call of `operations` with one of `errnos` at the given probability. The same seed and calls, the same
  /// failures.
  public func failRandomly(
    _ operations: Set<FileOperation>? = nil, probability: Double, errnos: [Errno], seed: UInt64
  ) {
    state.withLock { $0.chance = (probability, errnos, operations, SeededGenerator(seed: seed)) }
  }

  /// Asks `script` about each call that no plan wants.
  public func setScript(_ script: (@Sendable (FileCall) -> Fault?)?) {
    state.withLock { $0.script = script }
  }

  /// Lets `count` more calls through; from then on each throws and does nothing, as if the process had died.
  public func crash(after count: Int) { fail(call: count, with: .crash(bytesWritten: 0)) }

  /// Forgets all plans, script and chance. A crash stays.
  public func heal() {
    state.withLock {
      $0.plans = []
      $0.script = nil
      $0.chance = nil
    }
  }

  // MARK: What happened

  /// Calls so far.
  public var callCount: Int { state.withLock { $0.callCount } }
  /// Calls so far by kind.
  public var counts: [FileOperation: Int] { state.withLock { $0.counts } }
  /// Calls that a fault struck, in order; of those behind a crash only the first.
  public var struckCalls: [FileCall] { state.withLock { $0.struckCalls } }
  public var isCrashed: Bool { state.withLock { $0.crashNumber != nil } }

  // MARK: Calls

  public func perform<Result>(
    _ call: FileCall, writing bytes: UnsafeRawBufferPointer?, _ body: (FileCall) throws(Errno) -> Result
  ) throws(Errno) -> Result {
    var call = call
    let (fault, wasCrashed) = state.withLock { state in
      call.number = state.callCount
      let wasCrashed = state.crashNumber != nil
      return (state.fault(for: call), wasCrashed)
    }
    guard !wasCrashed else { throw Self.deadProcess }
    switch fault {
    case nil: return try body(call)
    case .errno(let errno):
      if call.operation == .close { _ = try body(call) }
      throw errno
    case .failedSync(let errno, let loss):
      if let descriptor = call.descriptor, call.operation == .syncData || call.operation == .sync {
        failSync(descriptor: descriptor.rawValue, losing: loss)
      }
      throw errno
    case .short(let length):
      if let count = call.byteCount, call.operation.movesBytes { call.byteCount = length.of(count) }
      return try body(call)
    case .nothing:
      if call.operation.movesBytes { call.byteCount = 0 }
      return try body(call)
    case .crash(let bytesWritten):
      if call.operation == .write, bytesWritten > 0, let count = call.byteCount {
        call.byteCount = min(bytesWritten, count)
        _ = try body(call)
      }
      throw Self.deadProcess
    }
  }

  /// What a call of a dead process answers, for want of not answering.
  private static let deadProcess = Errno(ESHUTDOWN)
}

extension FileOperation {
  fileprivate var movesBytes: Bool { self == .read || self == .write }
}

extension FaultyFileSystem.State {
  /// Counts the call and picks its fault.
  fileprivate mutating func fault(for call: FileCall) -> Fault? {
    callCount += 1
    counts[call.operation, default: 0] += 1
    guard crashNumber == nil else { return nil }
    guard let fault = plannedFault(for: call) ?? script?(call) ?? chanceFault(for: call) else { return nil }
    struckCalls.append(call)
    if case .crash = fault { crashNumber = call.number }
    return fault
  }

  private mutating func plannedFault(for call: FileCall) -> Fault? {
    var found: Fault?
    for index in plans.indices where plans[index].operations?.contains(call.operation) ?? true {
      if plans[index].skipCount > 0 {
        plans[index].skipCount -= 1
      } else if found == nil, plans[index].remainingCount != 0 {
        plans[index].remainingCount = plans[index].remainingCount.map { $0 - 1 }
        found = plans[index].fault
      }
    }
    return found
  }

  private mutating func chanceFault(for call: FileCall) -> Fault? {
    guard var current = chance, current.operations?.contains(call.operation) ?? true else { return nil }
    defer { chance = current }
    guard Double.random(in: 0..<1, using: &current.generator) < current.probability else { return nil }
    return current.errnos.randomElement(using: &current.generator).map { .errno($0) }
  }
}
