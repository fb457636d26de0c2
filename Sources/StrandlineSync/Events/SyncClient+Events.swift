@_spi(Engine) internal import StrandlineLog
internal import StrandlineProtocol

extension SyncClient {
  /// Calls `handler` with each event from now on, one after the other, where ``SyncConfiguration/deliverOn`` says.
  ///
  /// The handler may call the client; its calls do not wait for it.
  ///
  /// - Returns: ends the subscription; may be called from anywhere, and again.
  @discardableResult
  public func on(_ handler: @escaping @Sendable (SyncEvent) -> Void) -> @Sendable () -> Void {
    let number = delivery.add(handler)
    return { [delivery] in delivery.remove(number) }
  }

  /// The events from now on, in the order of ``on(_:)``. Ends with the client. What is not taken yet is kept in memory.
  public var events: AsyncStream<SyncEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: SyncEvent.self)
    let number = delivery.add { continuation.yield($0) }
    continuation.onTermination = { [delivery] _ in delivery.remove(number) }
    delivery.onClose(number) { continuation.finish() }
    return stream
  }
}
