import Testing

@testable import StrandlineBenchmarks

struct WorkloadTests {
  @Test func `rows are the same whatever else was made before`() {
    let all = RowCorpus(CorpusShape(range: 0..<2000), seed: 42)
    let part = RowCorpus(CorpusShape(range: 1000..<2000), seed: 42)
    #expect((0..<1000).allSatisfy { part[$0].elementsEqual(all[1000 + $0]) })
    #expect(RowCorpus(CorpusShape(range: 0..<2000), seed: 43).stateHash != all.stateHash)
  }

  @Test func `rows have the size that PEERS measured with`() {
    let corpus = RowCorpus(CorpusShape(range: 0..<20_000), seed: 42)
    let mean = Double(corpus.byteCount) / Double(corpus.count)
    #expect((162...165).contains(mean), "mean \(mean)")
    #expect((0..<corpus.count).allSatisfy { corpus[$0].count <= RowGenerator.rowByteCountMax })
  }

  @Test func `a row holds what its layout says`() {
    let corpus = RowCorpus(CorpusShape(range: 0..<5000), seed: 42)
    var tables = [Int](repeating: 0, count: 8)
    for index in 0..<corpus.count {
      let row = corpus[index]
      tables[Int(row[RowGenerator.tableOffset])] += 1
      #expect(row[RowGenerator.keyOffset + 6] >> 4 == 4 && row[RowGenerator.keyOffset + 8] >> 6 == 2)
      let title = Int(row[RowGenerator.titleOffset])
      let noteOffset = RowGenerator.titleOffset + 1 + title
      #expect(noteOffset + 1 + Int(row[noteOffset]) == row.count)
      let words = row[(RowGenerator.titleOffset + 1)..<noteOffset].split(separator: UInt8(ascii: " "))
      #expect((2...7).contains(words.count))
    }
    #expect(tables.allSatisfy { $0 > 0 } && tables[0] > 10 * tables[7])
  }
}
