import Testing

@testable @_spi(Engine) import StrandlineLog

/// The decision table, against a second one written from the rules alone.
struct TailVerdictTests {
  /// Rule by rule: which facts must hold, which must not, and what follows. Rules are tried in this order.
  private static let table: [(holds: Set<Fact>, holdsNot: Set<Fact>, verdict: TailVerdict)] = [
    ([.readFailed], [], .readFailed),
    ([.closed, .differsFromSuccessor], [], .corrupt(rule: 2)),
    ([.named, .headerless], [], .corrupt(rule: 3)),
    ([.headerless, .newest], [.named], .unfinishedCreation),
    ([.headerless], [.newest, .named], .corrupt(rule: 3)),
    ([.rootAhead], [], .corrupt(rule: 5)),
    ([.promiseBroken], [], .corrupt(rule: 6)),
    ([.differsFromCleanClose], [], .corrupt(rule: 7)),
    ([.zeroBehind], [], .cleanEnd),
    ([], [.zeroBehind], .torn),
  ]

  private enum Fact: Int, CaseIterable {
    case readFailed, closed, differsFromSuccessor, named, headerless, newest, rootAhead, promiseBroken,
      differsFromCleanClose, zeroBehind
  }

  @Test func `every combination of facts has exactly the verdict of the table written by hand`() {
    var verdicts: [TailVerdict: Int] = [:]
    for bits in 0..<1 << Fact.allCases.count {
      let held = Set(Fact.allCases.filter { bits >> $0.rawValue & 1 == 1 })
      var facts = TailFacts()
      facts.readFailed = held.contains(.readFailed)
      facts.isClosed = held.contains(.closed)
      facts.differsFromSuccessor = held.contains(.differsFromSuccessor)
      facts.isNamedByRoot = held.contains(.named)
      facts.isMissingOrHeaderless = held.contains(.headerless)
      facts.isNewest = held.contains(.newest)
      facts.rootIsAhead = held.contains(.rootAhead)
      facts.breaksPromise = held.contains(.promiseBroken)
      facts.differsFromCleanClose = held.contains(.differsFromCleanClose)
      facts.isZeroBehind = held.contains(.zeroBehind)
      let expected = Self.table.first { $0.holds.isSubset(of: held) && $0.holdsNot.isDisjoint(with: held) }?.verdict
      let verdict = TailVerdict(facts)
      #expect(verdict == expected, "facts \(held)")
      verdicts[verdict, default: 0] += 1
    }
    #expect(verdicts.values.reduce(0, +) == 1024)
    #expect(verdicts.count == 9, "no verdict is out of reach: \(verdicts)")
  }
}
