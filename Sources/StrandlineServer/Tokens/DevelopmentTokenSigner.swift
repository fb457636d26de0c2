internal import StrandlineProtocol

/// Signs tokens with the secret that a server checks them with (``TokenAlgorithm/hs256``): for development and tests.
public struct DevelopmentTokenSigner: Sendable {
  private let key: TokenKey

  /// - Throws: ``TokenKeyError`` for a secret below 32 bytes.
  public init(secret: [UInt8]) throws(TokenKeyError) { key = try TokenKey(secret: secret) }

  /// A token that a server with this secret takes.
  ///
  /// - Parameters:
  ///   - subject: The user; not empty.
  ///   - rules: What the server demands: its issuer, its audience and the claim of the role are put in.
  ///   - role: Nil: the server's default.
  ///   - expires: In seconds since 1970.
  /// - Throws: ``TokenKeyError`` if the signature cannot be made.
  public func token(
    for subject: String, rules: TokenRules = TokenRules(), role: String? = nil, expires: Int64
  ) throws(TokenKeyError) -> String {
    var claims: [String: Value] = ["sub": .string(subject), "exp": .int(expires)]
    if let issuer = rules.issuer { claims["iss"] = .string(issuer) }
    if let audience = rules.audience { claims["aud"] = .string(audience) }
    if let role { claims[rules.roleClaim] = .string(role) }
    let head: Value = ["alg": .string(TokenAlgorithm.hs256.rawValue), "typ": "JWT"]
    let message = "\(Self.part(head)).\(Self.part(.object(claims)))"
    guard let signature = key.signature(of: Array(message.utf8)) else {
      throw TokenKeyError("a token could not be signed")
    }
    return "\(message).\(Base64URL.text(signature))"
  }

  private static func part(_ value: Value) -> String {
    var json: [UInt8] = []
    value.appendJSON(to: &json)
    return Base64URL.text(json)
  }
}
