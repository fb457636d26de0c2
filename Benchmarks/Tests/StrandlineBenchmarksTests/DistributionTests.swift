import Testing

@testable import StrandlineBenchmarks

struct DistributionTests {
  @Test func `few ranks get most draws, and every rank is in range`() {
    let zipfian = Zipfian(count: 1000)
    var random = SplitMix64(state: 1)
    var hits = [Int](repeating: 0, count: 1000)
    for _ in 0..<100_000 { hits[zipfian.rank(&random)] += 1 }
    // 1 / zeta(1000) at 0.99 is 0.13.
    #expect((12_000...14_500).contains(hits[0]))
    #expect(hits[0] > hits[10] && hits[10] > hits[500])
    #expect(hits.prefix(100).reduce(0, +) > 60_000)
    for _ in 0..<1000 { #expect((0..<1000).contains(zipfian.scrambled(&random))) }
  }

  @Test func `a shuffled order holds every row once`() {
    #expect(RowOrder.shuffled(1000, seed: 3).sorted() == Array(0..<1000))
    #expect(RowOrder.shuffled(1000, seed: 3) == RowOrder.shuffled(1000, seed: 3))
    #expect(RowOrder.draws(1000, from: 5..<9, seed: 3).allSatisfy { (5..<9).contains($0) })
  }

  @Test func `a batch holds the rows of the corpus`() {
    let corpus = RowCorpus(CorpusShape(range: 0..<100), seed: Site.seed)
    let batch = RowBatch(indices: Array((0..<100).reversed()))
    let keys = RowBatch(indices: [42], keysOnly: true)
    #expect((0..<100).allSatisfy { batch[99 - $0].elementsEqual(corpus[$0]) })
    #expect(keys[0].elementsEqual(corpus[42].prefix(RowBytes.keyByteCount)))
  }
}
