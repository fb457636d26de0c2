extension DiskLayer {
  /// Reads every block in order and hands over what it holds, or why it cannot be had; the walk goes on behind a damaged one.
  ///
  /// For whoever looks at all of a layer, whatever became of it: verification, salvage. Scans use a cursor, which reads ahead.
  ///
  /// - Parameter body: given the block's number, the run it belongs to, and its versions, which are valid during the call; answers whether to
  ///   go on.
  /// - Returns: false if `body` ended it.
  @discardableResult
  func forEachBlock(_ body: (_ block: Int, _ run: Int, _ outcome: Result<BlockView, StoreError>) -> Bool) -> Bool {
    let scratch = takeScratch()
    defer { returnScratch(scratch) }
    for run in 0..<index.runCount {
      for block in index.blocks(ofRun: run) {
        let outcome: Result<BlockView, StoreError>
        do throws(StoreError) {
          outcome = .success(try readBlock(block, scratch))
        } catch {
          outcome = .failure(error)
        }
        guard body(block, run, outcome) else { return false }
      }
    }
    return true
  }
}
