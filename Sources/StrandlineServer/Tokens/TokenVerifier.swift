internal import StrandlineProtocol

/// What a token must say beside a good signature.
public struct TokenRules: Sendable {
  /// `iss` must be this text; nil: any.
  public var issuer: String?
  /// `aud` must be or hold this text; nil: any.
  public var audience: String?
  /// By how much clocks may differ, on both ends of a token's life. Default one minute, at most an hour.
  public var leeway: Duration
  /// The claim that names the role; a token without it has the default role.
  public var roleClaim: String

  public init(
    issuer: String? = nil, audience: String? = nil, leeway: Duration = .seconds(60), roleClaim: String = "role"
  ) {
    self.issuer = issuer
    self.audience = audience
    self.leeway = min(max(leeway, .zero), .seconds(3600))
    self.roleClaim = roleClaim
  }
}

/// What a good token says.
public struct TokenClaims: Hashable, Sendable {
  /// `sub`, not empty.
  public var subject: String
  public var role: String?
  /// `exp`, in seconds since 1970.
  public var expires: Int64
}

/// Why a token is not taken. The reason never holds a part of the token.
public enum TokenDefect: Error, Hashable, Sendable {
  case refused(String)
  /// No key of ours has the id that the token names; the keys may have changed.
  case unknownKey

  public var reason: String {
    switch self {
    case .refused(let reason): reason
    case .unknownKey: "the token is signed with a key that is not known"
    }
  }
}

/// Checks compact JSON Web Signatures (RFC 7515) with claims (RFC 7519).
public struct TokenVerifier: Sendable {
  private let rules: TokenRules

  public init(rules: TokenRules) { self.rules = rules }

  /// Bytes that a token has at most.
  static let byteCountMax = 8 << 10

  /// - Parameter now: Seconds since 1970.
  /// - Throws: ``TokenDefect``.
  public func verify(_ token: String, with set: TokenKeySet, now: Int64) throws(TokenDefect) -> TokenClaims {
    guard token.utf8.count <= Self.byteCountMax else { throw .refused("the token is too long") }
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let head = Self.object(parts[0]), let claims = Self.object(parts[1]),
      let signature = Base64URL.bytes(parts[2])
    else { throw .refused("the token is no JSON Web Token") }
    let message = Array("\(parts[0]).\(parts[1])".utf8)
    try checkSignature(head, message, signature, set)
    return try check(claims, now)
  }

  private func checkSignature(
    _ head: [String: Value], _ message: [UInt8], _ signature: [UInt8], _ set: TokenKeySet
  ) throws(TokenDefect) {
    guard case .string(let name)? = head["alg"], let algorithm = TokenAlgorithm(rawValue: name) else {
      throw .refused("the token's algorithm is not taken")
    }
    guard head["crit"] == nil, head["b64"] == nil else {
      throw .refused("the token demands an extension that is not known")
    }
    // A key serves the one algorithm that it is for, so a public key never checks an HMAC.
    var keys = set.keys.filter { $0.algorithm == algorithm }
    if let id = head["kid"] {
      guard case .string(let id) = id else { throw .refused("the token's key id is no text") }
      // A lone key without an id is the key, whatever its name elsewhere.
      let named = keys.filter { $0.id == id }
      keys = named.isEmpty && keys.count == 1 && keys[0].id == nil ? keys : named
    }
    guard !keys.isEmpty else { throw .unknownKey }
    guard keys.contains(where: { $0.verifies(signature, of: message) }) else {
      throw .refused("the token's signature is wrong")
    }
  }

  private func check(_ claims: [String: Value], _ now: Int64) throws(TokenDefect) -> TokenClaims {
    let leeway = rules.leeway.components.seconds
    guard let expires = Self.time(claims["exp"]) else {
      throw .refused(
        claims["exp"] == nil
          ? "the token does not say when it expires" : "the time at which the token expires is no time that can be")
    }
    guard now - leeway < expires else { throw .refused("the token has expired") }
    if let begins = claims["nbf"] {
      guard let begins = Self.time(begins), begins <= now + leeway else { throw .refused("the token is not valid yet") }
    }
    if let issuer = rules.issuer {
      guard case .string(let text)? = claims["iss"], Value.string(text) == .string(issuer) else {
        throw .refused("the token is of another issuer")
      }
    }
    if let audience = rules.audience {
      let named: [Value] =
        switch claims["aud"] {
        case .array(let texts)?: texts
        case let text?: [text]
        case nil: []
        }
      guard named.contains(.string(audience)) else { throw .refused("the token is for another audience") }
    }
    guard case .string(let subject)? = claims["sub"], !subject.isEmpty else {
      throw .refused("the token does not say whose it is")
    }
    var role: String?
    if let claim = claims[rules.roleClaim] {
      guard case .string(let text) = claim, !text.isEmpty else { throw .refused("the token's role is no text") }
      role = text
    }
    return TokenClaims(subject: subject, role: role, expires: expires)
  }

  private static func object(_ part: Substring) -> [String: Value]? {
    guard let bytes = Base64URL.bytes(part), case .object(let members)? = try? Value.json(bytes) else { return nil }
    return members
  }

  /// Whole seconds within some thousand years; nil for anything else.
  private static func time(_ value: Value?) -> Int64? {
    let range: ClosedRange<Int64> = -(1 << 40)...(1 << 40)
    switch value {
    case .int(let seconds)? where range.contains(seconds): return seconds
    case .double(let seconds)? where seconds.magnitude <= Double(range.upperBound): return Int64(seconds.rounded(.down))
    default: return nil
    }
  }
}
