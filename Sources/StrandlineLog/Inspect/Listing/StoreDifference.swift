/// One way in which two stores differ.
@_spi(Engine) public enum StoreDifference: Hashable, Sendable {
  /// A stretch of commits that only one of the two has.
  case onlyInFirst(ClosedRange<SequenceNumber>)
  case onlyInSecond(ClosedRange<SequenceNumber>)
  /// A commit that both have and that is not the same in both.
  case commit(SequenceNumber, what: Aspect)
  /// Something about the stores as a whole.
  case store(what: String, first: String, second: String)

  @_spi(Engine) public enum Aspect: String, Hashable, Sendable {
    case kind, epoch, time, records
  }
}

/// Compares the live commits of two stores, by number. Frames, segments and compression do not count; what is in them does.
@_spi(Engine) public struct StoreComparison {
  private let first: StoreInspector
  private let second: StoreInspector
  /// Whole live commits that both have and that are equal.
  public private(set) var equalCount = 0
  /// Commits, frames and stretches of either store that do not verify.
  public private(set) var damageCount = 0
  /// Of the first and of the second, once they were compared.
  public private(set) var conditions: [StoreCondition] = []
  /// How grave what was met on the way is; nil if all of it is whole.
  public private(set) var worst: Finding.Severity?

  public init(_ first: StoreInspector, _ second: StoreInspector) {
    self.first = first
    self.second = second
  }

  /// Walks both and hands over each difference, stretches joined, in the order of the numbers.
  public mutating func run(_ report: (StoreDifference) throws -> Void) throws {
    let firstCondition = try first.condition()
    let secondCondition = try second.condition()
    conditions = [firstCondition, secondCondition]
    try compareRoots(firstCondition.survey, secondCondition.survey, report)
    var left = try Side(first, firstCondition)
    var right = try Side(second, secondCondition)
    if left.epoch != right.epoch {
      try report(.store(what: "epoch", first: "\(left.epoch)", second: "\(right.epoch)"))
    }
    var alone = Stretch()
    var (one, other) = (try left.next(), try right.next())
    while one != nil || other != nil {
      let isLeft = one.map { one in other.map { one.sequence < $0.sequence } ?? true } ?? false
      if let one, let other, one.sequence == other.sequence {
        try alone.flush(report)
        if let aspect = one.difference(from: other) {
          try report(.commit(one.sequence, what: aspect))
        } else {
          equalCount += 1
        }
      } else if let single = isLeft ? one : other {
        try alone.add(single.sequence, isLeft: isLeft, report)
      }
      let isPair = one?.sequence == other?.sequence
      if isPair || isLeft { one = try left.next() }
      if isPair || !isLeft { other = try right.next() }
    }
    try alone.flush(report)
    damageCount = left.damageCount + right.damageCount
    worst = [left.worst, right.worst].compactMap(\.self).max()
  }

  private func compareRoots(
    _ left: StoreSurvey, _ right: StoreSurvey, _ report: (StoreDifference) throws -> Void
  ) throws {
    func identifier(_ survey: StoreSurvey) -> String {
      (survey.root.root?.identifier ?? survey.live.first?.header?.identifier)?.description ?? "none"
    }
    if identifier(left) != identifier(right) {
      try report(.store(what: "identifier", first: identifier(left), second: identifier(right)))
    }
    func layers(_ survey: StoreSurvey) -> String {
      let names = survey.root.root?.layers.map(\.fileName) ?? []
      return names.isEmpty ? "none" : names.joined(separator: ", ")
    }
    if layers(left) != layers(right) {
      try report(.store(what: "layers", first: layers(left), second: layers(right)))
    }
  }

  /// What is compared of one commit.
  private struct Digest {
    var sequence: SequenceNumber
    var kind: FrameKind
    var epoch: UInt64
    var time: Int64?
    var recordCount: Int
    var recordsTag: UInt64

    func difference(from other: Digest) -> StoreDifference.Aspect? {
      if kind != other.kind { return .kind }
      if epoch != other.epoch { return .epoch }
      if recordCount != other.recordCount || recordsTag != other.recordsTag { return .records }
      return time == other.time ? nil : .time
    }
  }

  /// One of the two stores, commit by commit.
  private struct Side: ~Copyable {
    private var walk: StoreWalk
    private(set) var damageCount = 0

    init(_ inspector: StoreInspector, _ condition: StoreCondition) throws(LogError) {
      walk = try StoreWalk(inspector, condition, includesAll: false)
    }

    var epoch: UInt64 { walk.epoch }
    var worst: Finding.Severity? { walk.worst }

    mutating func next() throws -> Digest? {
      while let element = try walk.next() {
        switch element {
        case .commit(let commit, .live):
          guard commit.state == .whole else {
            damageCount += 1
            continue
          }
          return try digest(commit)
        case .damage(_, .live): damageCount += 1
        default: continue
        }
      }
      return nil
    }

    private mutating func digest(_ commit: InspectedCommit) throws -> Digest {
      var tag: UInt64 = 0
      var kind = FrameKind.data
      switch commit.content {
      case .records: break
      case .reset: kind = .reset
      case .gap(let gap):
        kind = .gap
        tag = gap.first.rawValue
      case .unreadable(let found): kind = found
      }
      try walk.readRecords(of: commit) { list in
        // Chained, each with its length, so that the borders between records count and those between frames do not.
        for record in list { tag = Tag.of(record, seed: tag &+ UInt64(record.count)) }
      }
      return Digest(
        sequence: commit.sequence, kind: kind, epoch: commit.epoch, time: commit.time,
        recordCount: commit.recordCount, recordsTag: tag)
    }
  }

  /// Numbers that follow each other and that only one store has.
  private struct Stretch {
    private var range: (first: SequenceNumber, last: SequenceNumber, isLeft: Bool)?

    mutating func add(
      _ sequence: SequenceNumber, isLeft: Bool, _ report: (StoreDifference) throws -> Void
    ) throws {
      if let range, range.isLeft == isLeft, range.last.next == sequence {
        self.range = (range.first, sequence, isLeft)
      } else {
        try flush(report)
        range = (sequence, sequence, isLeft)
      }
    }

    mutating func flush(_ report: (StoreDifference) throws -> Void) throws {
      guard let range else { return }
      let numbers = range.first...range.last
      try report(range.isLeft ? .onlyInFirst(numbers) : .onlyInSecond(numbers))
      self.range = nil
    }
  }
}
