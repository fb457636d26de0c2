internal import StrandlineProtocol

/// The keys that tokens may be signed with.
public struct TokenKeySet: Sendable {
  let keys: [TokenKey]

  /// One secret for ``TokenAlgorithm/hs256``, at least 32 bytes.
  public init(secret: [UInt8]) throws(TokenKeyError) { keys = [try TokenKey(secret: secret)] }

  /// A JSON Web Key Set (RFC 7517) of public keys.
  ///
  /// Keys for other uses and of other kinds are passed over, secrets too: a set that others may publish never makes an HMAC key.
  ///
  /// - Throws: ``TokenKeyError`` for no set, a key of ours that cannot be used, an id that comes twice, and a set without any key.
  public init(jwks: [UInt8]) throws(TokenKeyError) {
    guard jwks.count <= Self.byteCountMax else { throw TokenKeyError("a set has \(Self.byteCountMax) bytes at most") }
    guard case .object(let set)? = try? Value.json(jwks), case .array(let entries)? = set["keys"] else {
      throw TokenKeyError("no JSON Web Key Set")
    }
    var keys: [TokenKey] = []
    for (place, entry) in entries.enumerated() {
      guard let key = try Self.key(entry, place) else { continue }
      if let id = key.id, keys.contains(where: { $0.id == id && $0.algorithm == key.algorithm }) {
        throw TokenKeyError("two keys have the id \(id)")
      }
      keys.append(key)
    }
    guard !keys.isEmpty else { throw TokenKeyError("the set has no key that can be used") }
    self.keys = keys
  }

  /// Of the bytes that one set may have.
  public static let byteCountMax = 1 << 20

  private static func key(_ entry: Value, _ place: Int) throws(TokenKeyError) -> TokenKey? {
    guard case .object(let members) = entry else { throw TokenKeyError("keys[\(place)] is no object") }
    func text(_ name: String) -> String? {
      if case .string(let text)? = members[name] { text } else { nil }
    }
    func bytes(_ name: String) throws(TokenKeyError) -> [UInt8] {
      guard let bytes = text(name).flatMap({ Base64URL.bytes($0) }) else {
        throw TokenKeyError("keys[\(place)].\(name) is no base64url")
      }
      return bytes
    }
    guard text("use").map({ $0 == "sig" }) ?? true,
      operations(members["key_ops"]).map({ $0.contains("verify") }) ?? true
    else { return nil }
    let id = text("kid")
    let algorithm = text("alg")
    switch (text("kty"), text("crv")) {
    case ("RSA", _) where algorithm == nil || algorithm == TokenAlgorithm.rs256.rawValue:
      return try TokenKey(rsaModulus: try bytes("n"), exponent: try bytes("e"), id: id)
    case ("EC", "P-256") where algorithm == nil || algorithm == TokenAlgorithm.es256.rawValue:
      return try TokenKey(p256X: try bytes("x"), y: try bytes("y"), id: id)
    case ("OKP", "Ed25519")
    where algorithm == nil || algorithm == TokenAlgorithm.edDSA.rawValue || algorithm == "Ed25519":
      return try TokenKey(ed25519: try bytes("x"), id: id)
    default: return nil
    }
  }

  private static func operations(_ value: Value?) -> [String]? {
    guard case .array(let values)? = value else { return nil }
    return values.compactMap { if case .string(let text) = $0 { text } else { nil } }
  }
}
