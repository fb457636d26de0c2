internal import Dispatch
@_spi(Engine) internal import StrandlineLog

/// Hands events and errors to whoever listens, one at a time, in the order of the commits that raised them.
///
/// Whoever is about to commit draws a turn while it holds the writer lane, so turns are in the order of the commits; what a turn raises is
/// delivered once all turns before it have ended. No lock is held while somebody is called.
final class EventDelivery: Sendable {
  typealias Listener = @Sendable (SyncEvent) -> Void
  typealias Turn = UInt64

  fileprivate enum Item: Sendable {
    case event(SyncEvent)
    case call(@Sendable () -> Void)
  }

  fileprivate struct State {
    var nextTurn: Turn = 0
    /// The turn that has to end next.
    var endingTurn: Turn = 0
    var ended: [Turn: [Item]] = [:]
    var items: [Item] = []
    var isDelivering = false
    var nextListener = 0
    /// Ascending by number, which is the order of subscription.
    var listeners: [(number: Int, listener: Listener)] = []
    var closeActions: [Int: @Sendable () -> Void] = [:]
    var isClosed = false
    /// The newest names, for people.
    var recent: [String] = []
  }

  private static let recentCountMax = 64

  private let state = Lock(State())
  private let run: @Sendable (@escaping @Sendable () -> Void) -> Void

  init(on run: (@Sendable (@escaping @Sendable () -> Void) -> Void)?) {
    if let run {
      self.run = run
    } else {
      let queue = DispatchQueue(label: "strandline.events")
      self.run = { queue.async(execute: $0) }
    }
  }

  // MARK: Turns

  /// To be drawn in the writer lane.
  func draw() -> Turn {
    state.withLock { state in
      defer { state.nextTurn += 1 }
      return state.nextTurn
    }
  }

  /// Ends a turn, with nothing where its commit failed. The calls are made behind the events.
  func end(_ turn: Turn, _ events: [SyncEvent], _ calls: [@Sendable () -> Void] = []) {
    let starts = state.withLock { state in
      state.ended[turn] = events.map { .event($0) } + calls.map { .call($0) }
      while let items = state.ended.removeValue(forKey: state.endingTurn) {
        state.endingTurn += 1
        state.items += items
      }
      return state.startDelivering()
    }
    if starts { run { self.deliver() } }
  }

  /// Calls `body` where events are delivered, behind what has been raised so far.
  func call(_ body: @escaping @Sendable () -> Void) {
    let starts = state.withLock { state in
      state.items.append(.call(body))
      return state.startDelivering()
    }
    if starts { run { self.deliver() } }
  }

  // MARK: Listeners

  /// - Returns: the listener's number, never given twice.
  func add(_ listener: @escaping Listener) -> Int {
    state.withLock { state in
      defer { state.nextListener += 1 }
      if !state.isClosed { state.listeners.append((state.nextListener, listener)) }
      return state.nextListener
    }
  }

  func remove(_ number: Int) {
    state.withLock { state in
      state.listeners.removeAll { $0.number == number }
      state.closeActions[number] = nil
    }
  }

  /// Calls `action` when the client is closed and the listener still there.
  func onClose(_ number: Int, _ action: @escaping @Sendable () -> Void) {
    let isClosed = state.withLock { state in
      if !state.isClosed { state.closeActions[number] = action }
      return state.isClosed
    }
    if isClosed { action() }
  }

  /// Lets go of the listeners, once they have been told what was raised before.
  func close() {
    call { [self] in
      let actions = state.withLock { state in
        defer {
          state.isClosed = true
          state.listeners = []
          state.closeActions = [:]
        }
        return state.closeActions.values
      }
      for action in actions { action() }
    }
  }

  /// Names of the newest events, oldest first.
  var recentNames: [String] { state.withLock { $0.recent } }

  // MARK: Delivery

  private func deliver() {
    while true {
      let batch = state.withLock { state in
        defer { state.items = [] }
        if state.items.isEmpty { state.isDelivering = false }
        return state.items
      }
      if batch.isEmpty { return }
      for item in batch {
        switch item {
        case .event(let event): for listener in note(event) { listener(event) }
        case .call(let body): body()
        }
      }
    }
  }

  /// Who is to be told of an event.
  private func note(_ event: SyncEvent) -> [Listener] {
    state.withLock { state in
      state.recent.append(event.name)
      if state.recent.count > Self.recentCountMax { state.recent.removeFirst() }
      return state.listeners.map(\.listener)
    }
  }
}

extension EventDelivery.State {
  fileprivate mutating func startDelivering() -> Bool {
    if isDelivering || items.isEmpty { return false }
    isDelivering = true
    return true
  }
}
