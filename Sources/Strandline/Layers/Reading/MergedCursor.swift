/// The versions of several layers as if they were one, in order. Of equal versions the upper layer's comes first.
final class MergedCursor: VersionCursor {
  static var viewsStay: Bool { false }

  // Going forward, the winner stands at the current version and every other cursor at its first version behind it; going back, at
  // its last version in front of it. So turning round moves each of the others by one.
  private struct Child {
    let cursor: any VersionCursor
    var view: VersionView?
    /// The first eight bytes of the view's key, prefix included.
    var head: UInt64 = 0

    @inline(__always)
    mutating func load() {
      view = cursor.current
      if let view { head = view.key.head }
    }

    @inline(__always)
    func isAt(_ key: KeyView, _ head: UInt64) -> Bool {
      guard let view, self.head == head else { return false }
      return KeyView.compare(view.key, key) == 0
    }
  }

  private struct State {
    var isPlaced = false
    var isForward = true
    /// Below zero: in front of all versions or, going forward, behind all.
    var winner = -1
    /// Of the others, the one that comes next; below zero: none.
    var rival = -1
  }

  private let children: UnsafeMutableBufferPointer<Child>
  private let state: UnsafeMutablePointer<State>

  /// - Parameter cursors: Top first.
  init(_ cursors: [any VersionCursor]) {
    children = .allocate(capacity: cursors.count)
    for (index, cursor) in cursors.enumerated() { children.initializeElement(at: index, to: Child(cursor: cursor)) }
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  deinit {
    children.deinitialize().deallocate()
    state.deallocate()
  }

  @inline(__always)
  var current: VersionView? { state.pointee.winner < 0 ? nil : children[state.pointee.winner].view }

  func seek(to key: KeyView) throws(StoreError) {
    state.pointee = State()
    for index in children.indices {
      try children[index].cursor.seek(to: key)
      children[index].load()
    }
    place(forward: true)
  }

  func seekBack(before key: KeyView?) throws(StoreError) {
    state.pointee = State()
    for index in children.indices {
      try children[index].cursor.seekBack(before: key)
      children[index].load()
    }
    place(forward: false)
  }

  func advance() throws(StoreError) {
    guard state.pointee.isPlaced else { return try seek(to: .lowest) }
    if !state.pointee.isForward { return try turn(forward: true) }
    let winner = state.pointee.winner
    guard winner >= 0 else { return }
    try move(winner) { (cursor) throws(StoreError) in try cursor.advance() }
    keepOrElect(winner)
  }

  func retreat() throws(StoreError) {
    guard state.pointee.isPlaced else { return }
    if state.pointee.isForward { return try turn(forward: false) }
    let winner = state.pointee.winner
    guard winner >= 0 else { return }
    try move(winner) { (cursor) throws(StoreError) in try cursor.retreat() }
    keepOrElect(winner)
  }

  func advancePastKey() throws(StoreError) {
    guard state.pointee.isPlaced, state.pointee.isForward || state.pointee.winner < 0 else {
      // Places the others at their versions behind the current one; if the next one is another key's we are done.
      return try advancePastKeySlowly()
    }
    let winner = state.pointee.winner
    guard winner >= 0, let view = children[winner].view else { return try advance() }
    // The winner goes last: the key lies with it.
    let rival = state.pointee.rival
    if rival >= 0, children[rival].isAt(view.key, children[winner].head) {
      for index in children.indices where index != winner && children[index].isAt(view.key, children[winner].head) {
        try move(index) { (cursor) throws(StoreError) in try cursor.advancePastKey() }
      }
      try move(winner) { (cursor) throws(StoreError) in try cursor.advancePastKey() }
      elect()
    } else {
      try move(winner) { (cursor) throws(StoreError) in try cursor.advancePastKey() }
      keepOrElect(winner)
    }
  }

  private func advancePastKeySlowly() throws(StoreError) {
    guard let key = current.map({ StoreKey(copying: $0.key) }) else { return try advance() }
    while let view = current, key.withView({ KeyView.compare($0, view.key) }) == 0 { try advance() }
  }

  private func place(forward: Bool) {
    state.pointee.isPlaced = true
    state.pointee.isForward = forward
    elect()
  }

  /// Goes on from the current version in the other direction.
  private func turn(forward: Bool) throws(StoreError) {
    state.pointee.isPlaced = false
    for index in children.indices {
      // The current version stays behind.
      try move(index) { (cursor) throws(StoreError) in try forward ? cursor.advance() : cursor.retreat() }
    }
    place(forward: forward)
  }

  /// A cursor that failed has no place any more, and so this one has none until the next seek.
  @inline(__always)
  private func move(_ index: Int, _ body: (any VersionCursor) throws(StoreError) -> Void) throws(StoreError) {
    do throws(StoreError) {
      try body(children[index].cursor)
    } catch {
      state.pointee = State()
      throw error
    }
    children[index].load()
  }

  /// After the winner moved: it stays the winner as long as it does not pass its rival.
  @inline(__always)
  private func keepOrElect(_ winner: Int) {
    let rival = state.pointee.rival
    if children[winner].view != nil, rival < 0 || comesFirst(winner, rival) { return }
    elect()
  }

  private func elect() {
    var winner = -1
    var rival = -1
    for index in children.indices where children[index].view != nil {
      if winner < 0 || comesFirst(index, winner) {
        rival = winner
        winner = index
      } else if rival < 0 || comesFirst(index, rival) {
        rival = index
      }
    }
    state.pointee.winner = winner
    state.pointee.rival = rival
  }

  /// Whether the one child's version comes before the other's in the direction we go.
  @inline(__always)
  private func comesFirst(_ one: Int, _ other: Int) -> Bool {
    let isLess: Bool
    if children[one].head != children[other].head {
      isLess = children[one].head < children[other].head
    } else if let left = children[one].view, let right = children[other].view {
      let order = KeyView.compare(left.key, right.key)
      if order != 0 {
        isLess = order < 0
      } else if left.sequence != right.sequence {
        isLess = left.sequence > right.sequence
      } else {
        isLess = one < other
      }
    } else {
      isLess = one < other
    }
    return isLess == state.pointee.isForward
  }
}
