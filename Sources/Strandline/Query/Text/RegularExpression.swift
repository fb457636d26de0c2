/// A regular expression that finds out whether something in a text matches, in time proportional to the text.
///
/// All states are followed side by side (Thompson, "Regular Expression Search Algorithm", CACM 1968), so no pattern makes a search
/// explode. What a pattern may hold is said at ``RegularExpressionSyntax``.
struct RegularExpression {
  enum Assertion {
    case start, end, wordEdge, noWordEdge, wordStart, wordEnd
  }

  private enum Instruction {
    case scalar(Unicode.Scalar)
    case set(Int)
    case assertion(Assertion)
    case jump(Int)
    case split(Int, Int)
    case found
  }

  /// Keeps a pattern such as `((a{1000}){1000}){1000}` from taking all memory.
  private static let instructionCountMax = 20_000

  private var program: [Instruction] = []
  private var sets: [ScalarSet] = []
  private let isFolded: Bool

  init(_ pattern: String, ignoringCase: Bool) throws(StoreError) {
    isFolded = ignoringCase
    try append(try RegularExpressionParser.parse(pattern, ignoringCase: ignoringCase))
    try emit(.found)
  }

  private mutating func emit(_ instruction: Instruction) throws(StoreError) {
    guard program.count < Self.instructionCountMax else { throw .invalidQuery(reason: "regular expression: too large") }
    program.append(instruction)
  }

  private mutating func append(_ syntax: RegularExpressionSyntax) throws(StoreError) {
    switch syntax {
    case .empty: return
    case .scalar(let scalar): try emit(.scalar(scalar))
    case .set(let set):
      sets.append(set)
      try emit(.set(sets.count - 1))
    case .assertion(let assertion): try emit(.assertion(assertion))
    case .sequence(let parts):
      for part in parts { try append(part) }
    case .choice(let ways):
      var jumps: [Int] = []
      for way in ways.dropLast() {
        let split = program.count
        try emit(.found)
        try append(way)
        jumps.append(program.count)
        try emit(.found)
        program[split] = .split(split + 1, program.count)
      }
      if let last = ways.last { try append(last) }
      for jump in jumps { program[jump] = .jump(program.count) }
    case .repetition(let part, let least, let most):
      for _ in 0..<least {
        let count = program.count
        try append(part)
        if program.count == count { break }
      }
      guard let most else {
        let split = program.count
        try emit(.found)
        try append(part)
        try emit(.jump(split))
        program[split] = .split(split + 1, program.count)
        return
      }
      var splits: [Int] = []
      for _ in least..<most {
        splits.append(program.count)
        try emit(.found)
        try append(part)
      }
      for split in splits { program[split] = .split(split + 1, program.count) }
    }
  }

  /// Whether some part of the text matches.
  func matches(_ text: String) -> Bool {
    var current = States(program.count)
    var following = States(program.count)
    var before: Unicode.Scalar?
    var iterator = text.unicodeScalars.makeIterator()
    var scalar = iterator.next()
    while true {
      if follow(0, between: before, and: scalar, into: &current) { return true }
      guard let raw = scalar else { return false }
      let upcoming = iterator.next()
      let asked = isFolded ? TextFolding.folded(raw) : raw
      following.removeAll()
      for index in 0..<current.count {
        let state = current[index]
        let isTaken =
          switch program[state] {
          case .scalar(let wanted): wanted == asked
          case .set(let number): sets[number].contains(asked)
          case .assertion, .jump, .split, .found: false
          }
        if isTaken, follow(state + 1, between: raw, and: upcoming, into: &following) { return true }
      }
      swap(&current, &following)
      before = raw
      scalar = upcoming
    }
  }

  /// Adds the state and all that is reached from it without taking a scalar; true: the end is among them.
  private func follow(
    _ state: Int, between before: Unicode.Scalar?, and after: Unicode.Scalar?, into states: inout States
  ) -> Bool {
    states.push(state)
    while let state = states.pop() {
      guard states.insert(state) else { continue }
      switch program[state] {
      case .found: return true
      case .jump(let target): states.push(target)
      case .split(let one, let other):
        states.push(other)
        states.push(one)
      case .assertion(let assertion):
        if Self.holds(assertion, between: before, and: after) { states.push(state + 1) }
      case .scalar, .set: break
      }
    }
    return false
  }

  private static func holds(_ assertion: Assertion, between before: Unicode.Scalar?, and after: Unicode.Scalar?) -> Bool
  {
    let left = before.map { ScalarSet.isIn(.word, $0) } ?? false
    let right = after.map { ScalarSet.isIn(.word, $0) } ?? false
    return switch assertion {
    case .start: before == nil
    case .end: after == nil
    case .wordEdge: left != right
    case .noWordEdge: left == right
    case .wordStart: !left && right
    case .wordEnd: left && !right
    }
  }

  /// A set of states that remembers the order in which they came, and those that are still to be followed.
  private struct States {
    private var members: [Int]
    private var places: [Int]
    private(set) var count = 0
    private var pending: [Int] = []

    init(_ capacity: Int) {
      members = Array(repeating: 0, count: capacity)
      places = Array(repeating: 0, count: capacity)
    }

    subscript(index: Int) -> Int { members[index] }

    mutating func insert(_ state: Int) -> Bool {
      let place = places[state]
      if place < count, members[place] == state { return false }
      members[count] = state
      places[state] = count
      count += 1
      return true
    }

    mutating func removeAll() { count = 0 }
    mutating func push(_ state: Int) { pending.append(state) }
    mutating func pop() -> Int? { pending.popLast() }
  }
}
