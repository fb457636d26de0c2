@_spi(Engine) internal import StrandlineLog

/// Whether a log whose bytes all verify can be folded into tables. A log without tables is none, and nothing is said of it.
///
/// For the verification of a store. Opens it for reading and changes nothing; keeps a batch of the log in memory, and no rows.
@_spi(Engine) public struct FactProof: Sendable {
  /// Why the store does not open; nil if it does, or could not be read just now.
  public private(set) var refusal: StoreError?

  /// - Parameters:
  ///   - path: directory of the store.
  ///   - hasLayers: a log with layers is a store's.
  /// - Complexity: reads and decodes the log from the anchor on.
  public init(of path: String, hasLayers: Bool) {
    var options = LogOptions()
    options.access = .readOnly
    var isStore = hasLayers
    do throws(LogError) {
      let log = try Log.open(at: path, options: options) { (batch) throws(LogError) in
        for frame in batch.frames {
          for record in batch.records(of: frame) {
            switch FactView.decode(record) {
            case .header: isStore = true
            case .put, .delete: break
            case nil:
              throw isStore
                ? .replayRefused(at: frame.sequence, reason: "a record is no fact of a store")
                : .unsupportedFormat(file: path, detail: .withoutTables)
            }
          }
        }
      }
      try log.close()
    } catch {
      // Anything else is a log alone, or files that a writer beside us replaces.
      if case .replayRefused = error { refusal = StoreError(error) }
    }
  }
}
