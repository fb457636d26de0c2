import StrandlineTestSupport
import Testing

@testable import Strandline

struct QueryModelTests {
  @Test(arguments: 0..<QueryScale.shardCount)
  func `random queries over random tables answer as a full scan`(shard: Int) throws {
    let tableCount = QueryScale.queryCount / QueryScale.queriesPerTable / QueryScale.shardCount
    var paths: [QueryExplanation.Path: Int] = [:]
    var unsortedIndexCount = 0
    for number in 0..<tableCount {
      let seed = QueryScale.seed &* 7_919 &+ UInt64(shard * tableCount + number)
      var random = RandomQueries(seed: seed)
      let definition = random.table()
      let rowCount = random.pick([0, 1, 5, 20, 60, 60])
      let table = try ModelTable(definition, (0..<rowCount).map { _ in random.row(of: definition) })
      // Small enough that the ways round large answers are taken.
      let limits = QueryLimits(
        collectedByteCountMax: random.pick([200, 1 << 20]), turnedCountMax: random.pick([1, 3, 256]),
        sortedRowCountMax: random.pick([0, 3, 10_000]))
      for query in 0..<QueryScale.queriesPerTable {
        let plan = random.plan(over: definition)
        let place = "seed \(seed), query \(query): \(plan)"
        let expected = Result { () throws(StoreError) in try table.modelRows(plan) }
        let found = Result { () throws(StoreError) -> (rows: [Row], count: Int?) in
          let rows = try table.run(plan, limits: limits)
          return (try rows.collect(), rows.count)
        }
        let explanation = try table.explain(plan)
        switch (expected, found) {
        case (.success(let model), .success(let engine)):
          #expect(model.rows == engine.rows, "\(place)\n\(explanation)")
          #expect(model.count == engine.count, "\(place)")
        case (.failure(let model), .failure(let engine)): #expect(model == engine, "\(place)")
        default: Issue.record("\(place): \(expected) against \(found)\n\(explanation)")
        }
        paths[explanation.path, default: 0] += 1
        if explanation.path == .index, explanation.sortColumns.isEmpty { unsortedIndexCount += 1 }
      }
    }
    // Each way of finding rows must have had its share.
    for path in [QueryExplanation.Path.nothing, .keys, .keyRange, .index, .scan] {
      #expect(paths[path, default: 0] > 20, "\(path) of \(paths)")
    }
    #expect(unsortedIndexCount > 20)
  }
}
