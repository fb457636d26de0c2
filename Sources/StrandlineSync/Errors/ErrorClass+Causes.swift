internal import Foundation
internal import FoundationNetworking
internal import StrandlineProtocol

extension ErrorClass {
  static var deadlinePassed: any Error { POSIXError(.ETIMEDOUT) }

  /// What an error of the way to the server means; nil: it says nothing.
  init?(cause: (any Error)?) {
    switch cause {
    case let error as URLError: self.init(error.code)
    case let error as POSIXError where error.code == .ETIMEDOUT || Self.lostConnections.contains(error.code):
      self = .connection
    case is CancellationError: self = .patience
    default: return nil
    }
  }

  private init(_ code: URLError.Code) {
    switch code {
    case .timedOut, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .networkConnectionLost,
      .notConnectedToInternet, .internationalRoamingOff, .dataNotAllowed, .callIsActive, .cannotLoadFromNetwork:
      self = .connection
    case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
      .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
      self = .tls
    case .userAuthenticationRequired, .userCancelledAuthentication: self = .tokenRefused
    case .dataLengthExceedsMaximum: self = .limit
    case .badURL, .unsupportedURL: self = .misuse
    case .cancelled: self = .patience
    default: self = .passingRefusal
    }
  }

  /// What the store's refusal means, by what the operating system said.
  init(store cause: (any Error)?) {
    switch (cause as? POSIXError)?.code {
    case .ENOSPC?, .EDQUOT?: self = .diskFull
    default: self = .diskRefused
    }
  }

  /// What an error of the operating system means that came from nobody knows where.
  init(_ code: POSIXError.Code) {
    switch code {
    case .ETIMEDOUT: self = .connection
    case _ where Self.lostConnections.contains(code): self = .connection
    case .ENOSPC, .EDQUOT: self = .diskFull
    default: self = .diskRefused
    }
  }

  private static let lostConnections: [POSIXError.Code] = [
    .ECONNREFUSED, .ECONNRESET, .ECONNABORTED, .EHOSTUNREACH, .EHOSTDOWN, .ENETUNREACH, .ENETDOWN, .EPIPE, .ENOTCONN,
    .EADDRNOTAVAIL,
  ]
}
