import StrandlineTestSupport
import Testing

@testable import Strandline

struct VersionMergeTests {
  @Test(arguments: 1...UInt64(40))
  func `a merge keeps what may be read at every horizon, at the bottom or not`(seed: UInt64) throws {
    var random = RandomVersions(seed: seed)
    let stack = RandomStack(&random)
    for horizon in [0, .max] + (0...stack.lastSequence).filter({ $0 % 7 == seed % 7 }) {
      for isBottom in [false, true] {
        var merged: [VersionModel.Version] = []
        let isWhole = try VersionMerge.run(
          stack.cursors(&random), horizon: horizon, isBottom: isBottom, shouldStop: { false },
          output: { (view) throws(StoreError) in merged.append(VersionModel.Version(view)) })
        #expect(isWhole)
        #expect(merged == Self.expected(stack.model, horizon, isBottom), "seed \(seed), horizon \(horizon)")
      }
    }
  }

  @Test(arguments: [UInt64(0), 5, .max])
  func `a version that two layers hold is put out once, as the upper one has it`(horizon: UInt64) throws {
    let key = StoreKey(KeyPrefix(.row), [1])
    func layer(_ sequences: [UInt64], _ value: UInt8) -> ArrayCursor {
      ArrayCursor(sequences.map { VersionModel.Version(key: key, sequence: $0, value: [value]) })
    }
    var merged: [UInt64] = []
    _ = try VersionMerge.run(
      [layer([9, 7, 3], 1), layer([9, 8, 7, 3], 2)], horizon: horizon, isBottom: false, shouldStop: { false },
      output: { (view) throws(StoreError) in
        merged.append(view.sequence)
        if view.sequence != 8 { #expect(view.value.map { Array($0) } == [1]) }
      })
    #expect(merged == (horizon == .max ? [9] : [9, 8, 7, 3]))
  }

  @Test func `a merge stops when it is told to, and passes the output's error on`() throws {
    let versions = (0..<1_000).map { number in
      VersionModel.Version(
        key: StoreKey(KeyPrefix(.row), [UInt8(number / 256), UInt8(number % 256)]), sequence: 1, value: [])
    }
    var count = 0
    let isWhole = try VersionMerge.run(
      [ArrayCursor(versions)], horizon: 1, isBottom: true, shouldStop: { count > 300 },
      output: { (_) throws(StoreError) in count += 1 })
    #expect(!isWhole)
    #expect(count == 511)
    #expect(throws: StoreError.closed) {
      try VersionMerge.run(
        [ArrayCursor(versions)], horizon: 1, isBottom: true, shouldStop: { false },
        output: { (_) throws(StoreError) in throw .closed })
    }
  }

  private static func expected(_ model: VersionModel, _ horizon: UInt64, _ isBottom: Bool) -> [VersionModel.Version] {
    model.versions.keys.sorted().flatMap { key in
      let versions = model.versions[key] ?? []
      var kept = versions.filter { $0.sequence > horizon }
      if let last = versions.last(where: { $0.sequence <= horizon }), last.value != nil || !isBottom {
        kept.insert(last, at: 0)
      }
      return kept.reversed()
    }
  }
}
