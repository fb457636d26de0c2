@_spi(Engine) import Strandline
@_spi(Engine) import StrandlineLog

/// Opens a log for lines from outside, and refuses a store with tables: one record that is no fact would keep that from being opened.
enum TablesGuard {
  /// - Throws: ``Failure`` with what to use instead; nothing was changed.
  static func open(_ path: String) throws -> Log {
    var hasRecords = false
    let log: Log
    do throws(LogError) {
      log = try Log.open(at: path) { (batch) throws(LogError) in
        if hasRecords { return }
        for frame in batch.frames {
          for record in batch.records(of: frame) {
            var facts = FactReader()
            if case .header? = facts.read(record, of: frame.sequence) {
              throw .replayRefused(at: frame.sequence, reason: "a fact of a store with tables")
            }
            hasRecords = true
            return
          }
        }
      }
    } catch {
      switch error {
      case .replayRefused: throw refusal(path)
      case .outOfSpace(let failure):
        throw Failure(.ioFailure, "\(failure). Nothing was appended. Free some space and try again.")
      default: throw error
      }
    }
    if log.status.layers.isEmpty { return log }
    try log.close()
    throw refusal(path)
  }

  private static func refusal(_ path: String) -> any Error {
    do {
      // Whose it is, if it can be told: those have commands of their own.
      try StoreKeeper.refuse("put", in: StoreAccess.reading(path))
    } catch let failure as Failure {
      return failure
    } catch {}
    return Failure(
      .usage,
      "\(path) is a store with tables: `strandline put` and `strandline load` write rows to it, and a line that is none of its facts "
        + "would keep it from being opened. Nothing was written.")
  }
}
