public import Observation

/// The errors of a client, for a user interface: ``error`` drives an alert.
///
/// What is tried again by itself is ignored (``SyncError/isTransient``): no path to the server, calls that ran out of time. Everything else
/// stays until it is dismissed or another takes its place.
///
/// ```swift
/// let errors = SyncErrorModel(client: client)
/// .alert("Sync", isPresented: $errors.isPresented) { … } message: { Text("\(errors.error)") }
/// ```
@MainActor @Observable
public final class SyncErrorModel {
  /// The newest error that is not ignored; nil after ``dismiss()``.
  public private(set) var error: (any Error)?

  @ObservationIgnored private let isIgnored: @Sendable (any Error) -> Bool

  /// - Parameter ignoring: Errors that are nobody's business; default ``isTransient(_:)``.
  public init(ignoring isIgnored: @escaping @Sendable (any Error) -> Bool = SyncErrorModel.isTransient) {
    self.isIgnored = isIgnored
  }

  /// A model of what the client's error handler is told. A handler that is there already is told as before, first.
  public convenience init(
    client: SyncClient, ignoring isIgnored: @escaping @Sendable (any Error) -> Bool = SyncErrorModel.isTransient
  ) {
    self.init(ignoring: isIgnored)
    let earlier = client.errorHandler
    client.errorHandler = { [weak self] error, session in
      earlier?(error, session)
      self?.receive(error)
    }
  }

  /// Takes an error from anywhere; it is shown in the order of the calls.
  public nonisolated func receive(_ error: any Error) {
    Task { @MainActor in
      if !isIgnored(error) { self.error = error }
    }
  }

  /// Whether there is an error to show. Setting it to false dismisses it.
  public var isPresented: Bool {
    get { error != nil }
    set { if !newValue { dismiss() } }
  }

  public func dismiss() { error = nil }

  /// Whether an error is tried again by itself, as ``SyncError/init(classifying:)`` sees it.
  public nonisolated static func isTransient(_ error: any Error) -> Bool { SyncError(classifying: error).isTransient }
}
