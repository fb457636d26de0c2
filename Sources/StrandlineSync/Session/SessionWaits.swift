/// Calls that wait for what runs bring about.
struct SessionWaits: Sendable {
  enum Goal: Hashable, Sendable {
    /// No entry of the queue up to this one is left.
    case upload(through: Int64)
    /// A pull sequence behind this one has closed.
    case download(after: Int)
  }

  typealias Continuation = CheckedContinuation<Void, any Error>

  struct Wait: Sendable {
    var goal: Goal
    var endsOnTransient: Bool
    var continuation: Continuation
  }

  private(set) var waits: [Int: Wait] = [:]
  private var nextNumber = 0

  /// A number for a wait, never given twice.
  mutating func draw() -> Int {
    defer { nextNumber += 1 }
    return nextNumber
  }

  mutating func add(_ number: Int, _ goal: Goal, endsOnTransient: Bool, _ continuation: Continuation) {
    waits[number] = Wait(goal: goal, endsOnTransient: endsOnTransient, continuation: continuation)
  }

  var hasUploads: Bool {
    waits.values.contains { if case .upload = $0.goal { true } else { false } }
  }

  // MARK: What ends waits. The caller resumes them, with no lock held.

  mutating func take(_ number: Int) -> Continuation? { waits.removeValue(forKey: number)?.continuation }

  /// - Parameter head: the first entry of the queue; nil: there is none.
  mutating func uploaded(upTo head: Int64?) -> [Continuation] {
    take { wait in
      if case .upload(let through) = wait.goal { head.map { through < $0 } ?? true } else { false }
    }
  }

  mutating func downloaded(_ sequence: Int) -> [Continuation] {
    take { wait in
      if case .download(let after) = wait.goal { after < sequence } else { false }
    }
  }

  /// A run has failed.
  mutating func failed(isTransient: Bool) -> [Continuation] { take { $0.endsOnTransient || !isTransient } }

  private mutating func take(where isMeant: (Wait) -> Bool) -> [Continuation] {
    let numbers = waits.filter { isMeant($0.value) }.keys.sorted()
    return numbers.compactMap { take($0) }
  }
}
