@_spi(Engine) internal import StrandlineLog

/// What a thread of the store knows of the engine it works for: enough to find it, too little to keep it alive.
final class WeakEngine: Sendable {
  private struct Reference { weak var engine: StoreEngine? }
  private let reference = Lock(Reference())

  func set(_ engine: StoreEngine) { reference.withLock { $0.engine = engine } }
  func get() -> StoreEngine? { reference.withLock { $0.engine } }
}
