@_spi(Engine) internal import StrandlineLog

extension StoreEngine {
  /// Lets the commits on their way arrive, ends what goes on in the background, closes the log.
  func close() throws(StoreError) {
    precondition(!isInLane, "close inside write: close after it")
    do throws(StoreError) {
      try gate.exclusively { () throws(StoreError) in _ = gate.close() }
    } catch {
      // Closed before.
      return
    }
    show { $0.isClosed = true }
    endHelpers()
    do throws(LogError) { try log.close() } catch { throw StoreError(error) }
  }
}
