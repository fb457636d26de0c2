/// Which way the bytes of a file go.
public enum AttachmentDirection: String, Hashable, Sendable, CaseIterable {
  case upload
  case download

  /// The state of a file while its bytes are on their way.
  var stateInFlight: AttachmentState { self == .upload ? .uploading : .downloading }
}
