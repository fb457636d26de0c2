import CCrypto
import StrandlineProtocol

/// A key pair made for a test: signs tokens and publishes its public half.
final class TokenSigner: @unchecked Sendable {
  enum Kind {
    case rsa(bits: Int32)
    case p256, ed25519
  }

  private let key: OpaquePointer
  private let kind: Kind

  init(_ kind: Kind) throws {
    self.kind = kind
    let type =
      switch kind {
      case .rsa: EVP_PKEY_RSA
      case .p256: EVP_PKEY_EC
      case .ed25519: EVP_PKEY_ED25519
      }
    let context = EVP_PKEY_CTX_new_id(type, nil)
    defer { EVP_PKEY_CTX_free(context) }
    EVP_PKEY_keygen_init(context)
    switch kind {
    case .rsa(let bits): EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits)
    case .p256: EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1)
    case .ed25519: break
    }
    var made: OpaquePointer?
    guard EVP_PKEY_keygen(context, &made) == 1, let made else { throw NoKey() }
    key = made
  }

  deinit { EVP_PKEY_free(key) }

  struct NoKey: Error {}

  var algorithm: String {
    switch kind {
    case .rsa: "RS256"
    case .p256: "ES256"
    case .ed25519: "EdDSA"
    }
  }

  /// The public half as a member of a JSON Web Key Set.
  func jwk(_ more: [String: Value] = [:]) -> Value {
    var members = more
    switch kind {
    case .rsa:
      members["kty"] = "RSA"
      members["n"] = .string(number("n"))
      members["e"] = .string(number("e"))
    case .p256:
      members["kty"] = "EC"
      members["crv"] = "P-256"
      members["x"] = .string(number("qx", byteCount: 32))
      members["y"] = .string(number("qy", byteCount: 32))
    case .ed25519:
      members["kty"] = "OKP"
      members["crv"] = "Ed25519"
      members["x"] = .string(TokenText.base64URL(rawPublicKey))
    }
    return .object(members)
  }

  var rawPublicKey: [UInt8] {
    var count = 32
    var bytes = [UInt8](repeating: 0, count: count)
    EVP_PKEY_get_raw_public_key(key, &bytes, &count)
    return bytes
  }

  /// The public half in the form that a careless server would take for an HMAC secret.
  var publicDER: [UInt8] {
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = i2d_PUBKEY(key, &bytes)
    defer { CRYPTO_free(bytes, #file, #line) }
    return bytes.map { Array(UnsafeBufferPointer(start: $0, count: Int(count))) } ?? []
  }

  func token(_ claims: [String: Value], head: [String: Value] = [:]) -> String {
    var head = head
    if head["alg"] == nil { head["alg"] = .string(algorithm) }
    let message = TokenText.message(head, claims)
    return "\(message).\(TokenText.base64URL(sign(Array(message.utf8))))"
  }

  private func sign(_ message: [UInt8]) -> [UInt8] {
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    if case .ed25519 = kind {
      EVP_DigestSignInit(context, nil, nil, nil, key)
    } else {
      EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key)
    }
    var count = 1024
    var signature = [UInt8](repeating: 0, count: count)
    EVP_DigestSign(context, &signature, &count, message, message.count)
    signature.removeLast(signature.count - count)
    guard case .p256 = kind else { return signature }
    let pair = signature.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      return d2i_ECDSA_SIG(nil, &start, bytes.count)
    }
    defer { ECDSA_SIG_free(pair) }
    var r = [UInt8](repeating: 0, count: 32)
    var s = r
    BN_bn2binpad(ECDSA_SIG_get0_r(pair), &r, 32)
    BN_bn2binpad(ECDSA_SIG_get0_s(pair), &s, 32)
    return r + s
  }

  private func number(_ name: String, byteCount: Int? = nil) -> String {
    var number: OpaquePointer?
    EVP_PKEY_get_bn_param(key, name, &number)
    defer { BN_free(number) }
    let count = byteCount ?? Int(BN_num_bits(number) + 7) / 8
    var bytes = [UInt8](repeating: 0, count: count)
    BN_bn2binpad(number, &bytes, Int32(count))
    return TokenText.base64URL(bytes)
  }
}

enum TokenText {
  static func message(_ head: [String: Value], _ claims: [String: Value]) -> String {
    "\(base64URL(Array(Value.object(head).json.utf8))).\(base64URL(Array(Value.object(claims).json.utf8)))"
  }

  /// A token signed with HMAC.
  static func hs256(_ claims: [String: Value], secret: [UInt8], head: [String: Value] = ["alg": "HS256"]) -> String {
    let text = message(head, claims)
    var code = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    HMAC(EVP_sha256(), secret, Int32(secret.count), Array(text.utf8), text.utf8.count, &code, &count)
    return "\(text).\(base64URL(code))"
  }

  static func base64URL(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var text: [UInt8] = []
    var place = 0
    while place < bytes.count {
      let group = bytes[place..<min(place + 3, bytes.count)]
      let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
      for index in 0...group.count { text.append(digits[Int(bits >> UInt32(18 - 6 * index) & 63)]) }
      place += 3
    }
    return String(decoding: text, as: UTF8.self)
  }
}
