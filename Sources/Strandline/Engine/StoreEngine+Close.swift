@_spi(Engine) internal import StrandlineLog

extension StoreEngine {
  /// Lets the commits on their way arrive, ends compaction, closes the log.
  func close() throws(StoreError) {
    precondition(!isInLane, "close inside write: close after it")
    do throws(StoreError) {
      try gate.exclusively { () throws(StoreError) in _ = gate.close() }
    } catch {
      // Closed before.
      return
    }
    published.withLock { $0.isClosed = true }
    compactor.end()
    do throws(LogError) { try log.close() } catch { throw StoreError(error) }
  }
}
