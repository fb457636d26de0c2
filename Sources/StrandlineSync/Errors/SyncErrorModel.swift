internal import Foundation
internal import FoundationNetworking
public import Observation

/// The errors of a client, for a user interface: ``error`` drives an alert.
///
/// What comes and goes by itself is ignored: no path to the server, and calls that ran out of time. Everything else stays until it is
/// dismissed or another takes its place.
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
    client.errorHandler = { [weak self] error in
      earlier?(error)
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

  /// Whether the server was not reached (`connectionFailed`), or did not answer in time (`ETIMEDOUT`).
  public nonisolated static func isTransient(_ error: any Error) -> Bool {
    switch error {
    case let error as SyncError: error.code == .remote && error.underlying.map(isTransient) ?? false
    case let error as POSIXError: posixCodes.contains(error.code)
    case let error as URLError: urlCodes.contains(error.code)
    default: false
    }
  }

  private nonisolated static let posixCodes: [POSIXError.Code] = [
    .ETIMEDOUT, .ECONNREFUSED, .ECONNRESET, .ECONNABORTED, .EHOSTUNREACH, .EHOSTDOWN, .ENETUNREACH, .ENETDOWN, .EPIPE,
    .ENOTCONN, .EADDRNOTAVAIL,
  ]

  private nonisolated static let urlCodes: [URLError.Code] = [
    .timedOut, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .networkConnectionLost, .notConnectedToInternet,
    .internationalRoamingOff, .dataNotAllowed, .callIsActive, .cannotLoadFromNetwork,
  ]
}
