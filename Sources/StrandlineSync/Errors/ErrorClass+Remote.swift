internal import Foundation
internal import FoundationNetworking
internal import StrandlineProtocol

/// The call that a remote failed.
enum RemoteCall: Hashable, Sendable {
  case pull
  /// - Parameter isWhole: the slice cannot be split any further.
  case push(isWhole: Bool)
}

extension ErrorClass {
  /// What a remote's failure means. Codes go before the status: the same server may sit behind different gateways.
  init(_ failure: RemoteFailure, _ call: RemoteCall) {
    switch failure.kind {
    case .undecodable: self = .brokenProtocol
    case .answerTooLarge: self = .limit
    case .unreachable(_, let cause): self = cause.map { ErrorClass(cause: $0) ?? .passingRefusal } ?? .connection
    case .refused(_, let status): self = ErrorClass(code: failure.code, status: status, call)
    }
  }

  /// What a refusal of the server, or of what stands in front of it, means.
  private init(code: TransportCode?, status: Int?, _ call: RemoteCall) {
    switch code {
    case TransportCode.unscopedPull where call == .pull, TransportCode.invalidParameter where call == .pull:
      self = .subscription
    case TransportCode.batchTooLarge: self = call == .push(isWhole: false) ? .brokenProtocol : .limit
    case TransportCode.tooManyBuckets: self = .subscription
    case TransportCode.sessionMissing, TransportCode.atomicRequired: self = .patience
    case TransportCode.sessionExpired, TransportCode.sessionTimeout: self = .tokenRefused
    case TransportCode.insufficientPrivilege: self = .permissionDenied
    case let code? where code.isPermanent: self = .brokenProtocol
    case TransportCode.unknownProfile: self = .passingRefusal
    default: self = ErrorClass(status: status)
    }
  }

  /// What the status of an answer means whose code says nothing.
  private init(status: Int?) {
    switch status ?? 0 {
    case 300..<400: self = .brokenProtocol
    case 401: self = .tokenRefused
    case 403: self = .permissionDenied
    case 408, 504: self = .connection
    case 429, 503: self = .patience
    default: self = .passingRefusal
    }
  }
}

extension RemoteFailure {
  /// Whether the call was broken off by whoever made it.
  var isCancellation: Bool {
    if case .unreachable(_, let cause) = kind { cause is CancellationError } else { false }
  }

  /// The error beneath.
  var cause: (any Error)? {
    switch kind {
    case .unreachable(_, let cause): cause
    case .answerTooLarge: URLError(.dataLengthExceedsMaximum)
    default: nil
    }
  }

  /// Whether less might be answered if less is asked for.
  var isAnswerTooLarge: Bool {
    if case .answerTooLarge = kind { true } else { false }
  }
}
