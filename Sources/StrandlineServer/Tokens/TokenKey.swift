internal import CCrypto

/// One key that signatures are checked with. It serves one algorithm, whatever a token says.
final class TokenKey: @unchecked Sendable {
  private enum Material {
    case secret([UInt8])
    case key(OpaquePointer)
  }

  let id: String?
  let algorithm: TokenAlgorithm
  // Never changed after the initializer; OpenSSL only reads a key that it checks with.
  private let material: Material

  /// - Throws: ``TokenKeyError`` below 32 bytes.
  init(secret: [UInt8], id: String? = nil) throws(TokenKeyError) {
    guard secret.count >= Self.secretByteCountMin else {
      throw TokenKeyError("a secret for HS256 needs \(Self.secretByteCountMin) bytes at least")
    }
    self.id = id
    algorithm = .hs256
    material = .secret(secret)
  }

  /// An RSA key of its modulus and exponent, big-endian.
  init(rsaModulus modulus: [UInt8], exponent: [UInt8], id: String?) throws(TokenKeyError) {
    let modulus = Array(modulus.drop { $0 == 0 })
    let exponent = Array(exponent.drop { $0 == 0 })
    guard (256...1024).contains(modulus.count), (1...8).contains(exponent.count), let last = exponent.last,
      last & 1 == 1,
      exponent != [1]
    else { throw TokenKeyError("an RSA key has 2048 to 8192 bits and an odd exponent above one") }
    let key = strandline_rsa_key(modulus, Int32(modulus.count), exponent, Int32(exponent.count))
    guard let key else { throw TokenKeyError("no RSA key") }
    self.id = id
    algorithm = .rs256
    material = .key(key)
  }

  /// A key on P-256 of the two coordinates, big-endian, 32 bytes each.
  init(p256X x: [UInt8], y: [UInt8], id: String?) throws(TokenKeyError) {
    guard x.count == 32, y.count == 32 else { throw TokenKeyError("a coordinate on P-256 has 32 bytes") }
    guard let key = strandline_p256_key([4] + x + y) else { throw TokenKeyError("no point on P-256") }
    self.id = id
    algorithm = .es256
    material = .key(key)
  }

  /// An Ed25519 key of its 32 bytes.
  init(ed25519 bytes: [UInt8], id: String?) throws(TokenKeyError) {
    guard bytes.count == 32, let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count) else {
      throw TokenKeyError("an Ed25519 key has 32 bytes")
    }
    self.id = id
    algorithm = .edDSA
    material = .key(key)
  }

  deinit {
    if case .key(let key) = material { EVP_PKEY_free(key) }
  }

  static let secretByteCountMin = 32

  /// Whether the signature over the message was made with the other half of the key.
  func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    switch material {
    case .secret(let secret): Self.isCode(signature, of: message, secret)
    case .key(let key):
      switch algorithm {
      case .es256: Self.derSignature(signature).map { Self.verifies($0, of: message, key, EVP_sha256()) } ?? false
      case .rs256: Self.verifies(signature, of: message, key, EVP_sha256())
      case .edDSA: signature.count == 64 && Self.verifies(signature, of: message, key, nil)
      case .hs256: false
      }
    }
  }

  private static func isCode(_ signature: [UInt8], of message: [UInt8], _ secret: [UInt8]) -> Bool {
    guard let code = code(of: message, secret), signature.count == code.count else { return false }
    // Takes the same time wherever the two differ.
    return CRYPTO_memcmp(signature, code, code.count) == 0
  }

  /// HMAC with SHA-256; nil if OpenSSL cannot.
  private static func code(of message: [UInt8], _ secret: [UInt8]) -> [UInt8]? {
    var code = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    let made = HMAC(EVP_sha256(), secret, Int32(clamping: secret.count), message, message.count, &code, &count)
    return made != nil && count == 32 ? code : nil
  }

  /// The signature of a message; nil for a key that only checks, and if OpenSSL cannot.
  func signature(of message: [UInt8]) -> [UInt8]? {
    guard case .secret(let secret) = material else { return nil }
    return Self.code(of: message, secret)
  }

  private static func verifies(
    _ signature: [UInt8], of message: [UInt8], _ key: OpaquePointer, _ digest: OpaquePointer?
  ) -> Bool {
    guard let context = EVP_MD_CTX_new() else { return false }
    defer { EVP_MD_CTX_free(context) }
    guard EVP_DigestVerifyInit(context, nil, digest, nil, key) == 1 else {
      ERR_clear_error()
      return false
    }
    let isGood = EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    if !isGood { ERR_clear_error() }
    return isGood
  }

  /// The two numbers of 32 bytes that a token carries, as OpenSSL reads them; nil for any other length.
  private static func derSignature(_ signature: [UInt8]) -> [UInt8]? {
    guard signature.count == 64, let pair = ECDSA_SIG_new() else { return nil }
    defer { ECDSA_SIG_free(pair) }
    let r = signature.withUnsafeBufferPointer { BN_bin2bn($0.baseAddress, 32, nil) }
    let s = signature.withUnsafeBufferPointer { BN_bin2bn($0.baseAddress.map { $0 + 32 }, 32, nil) }
    // Takes both numbers over, unless one is missing.
    guard ECDSA_SIG_set0(pair, r, s) == 1 else {
      BN_free(r)
      BN_free(s)
      return nil
    }
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = i2d_ECDSA_SIG(pair, &bytes)
    guard count > 0, let bytes else { return nil }
    defer { CRYPTO_free(bytes, #file, #line) }
    return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
  }
}

/// Keys that cannot be used.
public struct TokenKeyError: Error, Hashable, Sendable, CustomStringConvertible {
  public var reason: String

  init(_ reason: String) { self.reason = reason }

  public var description: String { "the keys of tokens are refused: \(reason)" }
}
