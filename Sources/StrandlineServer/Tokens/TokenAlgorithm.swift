/// The signatures that are taken; `none` and all others are not. The raw values are those of RFC 7518 and RFC 8037.
public enum TokenAlgorithm: String, Hashable, Sendable, CaseIterable {
  /// HMAC with SHA-256: who can check can also sign. For development.
  case hs256 = "HS256"
  /// RSA (PKCS #1 v1.5) with SHA-256.
  case rs256 = "RS256"
  /// ECDSA on P-256 with SHA-256.
  case es256 = "ES256"
  /// Ed25519.
  case edDSA = "EdDSA"
}
