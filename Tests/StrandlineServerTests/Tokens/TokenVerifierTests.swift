import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable import StrandlineServer

@Suite("Tokens") struct TokenVerifierTests {
  private static let now: Int64 = 1_800_000_000
  private let claims: [String: Value] = ["sub": "u1", "exp": .int(now + 300), "iss": "me", "aud": "app"]
  private let secret = Array("0123456789abcdef0123456789abcdef".utf8)

  private func set(_ keys: Value...) throws -> TokenKeySet {
    try TokenKeySet(jwks: Array(Value.object(["keys": .array(keys)]).json.utf8))
  }

  private func verify(
    _ token: String, _ set: TokenKeySet, _ rules: TokenRules = TokenRules(), now: Int64 = now
  ) -> Result<TokenClaims, TokenDefect> {
    Result { () throws(TokenDefect) in try TokenVerifier(rules: rules).verify(token, with: set, now: now) }
  }

  private static let kinds: [TokenSigner.Kind] = [.rsa(bits: 2048), .p256, .ed25519]

  @Test(arguments: 0..<3)
  func `a token signed with a published key is taken, every changed byte is not`(kind: Int) throws {
    let signer = try TokenSigner(Self.kinds[kind])
    let set = try set(signer.jwk(["kid": "a"]))
    let token = signer.token(claims, head: ["alg": .string(signer.algorithm), "kid": "a"])
    #expect(try verify(token, set).get() == TokenClaims(subject: "u1", role: nil, expires: Self.now + 300))
    let characters = Array(token)
    for place in characters.indices {
      var other = characters
      other[place] = characters[place] == "A" ? "B" : "A"
      #expect(throws: TokenDefect.self, "\(place)") { try verify(String(other), set).get() }
    }
    for cut in [1, 10, token.count / 2] {
      #expect(throws: TokenDefect.self) { try verify(String(token.dropLast(cut)), set).get() }
    }
    let other = try TokenSigner(Self.kinds[kind])
    #expect(throws: TokenDefect.self) {
      try verify(other.token(claims, head: ["alg": .string(signer.algorithm), "kid": "a"]), set).get()
    }
  }

  @Test func `a secret serves HS256`() throws {
    let set = try TokenKeySet(secret: secret)
    #expect(try verify(TokenText.hs256(claims, secret: secret), set).get().subject == "u1")
    let wrong = Array("0123456789abcdef0123456789abcdeF".utf8)
    #expect(verify(TokenText.hs256(claims, secret: wrong), set) == .failure(.refused("the token's signature is wrong")))
    #expect(throws: TokenKeyError.self) { try TokenKeySet(secret: Array("short".utf8)) }
  }

  @Test func `a token for development says what the rules ask for`() throws {
    let set = try TokenKeySet(secret: secret)
    let rules = TokenRules(issuer: "me", audience: "app", roleClaim: "r")
    let signer = try DevelopmentTokenSigner(secret: secret)
    let token = try signer.token(for: "ä", rules: rules, role: "editor", expires: Self.now + 1)
    #expect(
      try verify(token, set, rules).get() == TokenClaims(subject: "ä", role: "editor", expires: Self.now + 1))
    #expect(try verify(signer.token(for: "u", expires: Self.now + 1), set).get().role == nil)
    #expect(verify(token, set, TokenRules(issuer: "other")) == .failure(.refused("the token is of another issuer")))
    #expect(throws: TokenKeyError.self) { try DevelopmentTokenSigner(secret: Array("short".utf8)) }
  }

  @Test func `what base64url writes it reads`() {
    for count in 0..<200 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ count) }
      #expect(Base64URL.bytes(Base64URL.text(bytes)) == bytes)
      #expect(Base64URL.text(bytes) == TokenText.base64URL(bytes))
    }
  }

  @Test func `no algorithm but that of the key counts`() throws {
    let signer = try TokenSigner(.rsa(bits: 2048))
    let published = try set(signer.jwk())
    // The public key as an HMAC secret.
    for secret in [signer.publicDER, Array(signer.jwk().json.utf8)] {
      #expect(verify(TokenText.hs256(claims, secret: secret), published) == .failure(.unknownKey))
    }
    // No signature at all.
    for name in ["none", "None", "NONE", "", "HS512", "RS512", "PS256", "hs256"] {
      let head: [String: Value] = ["alg": .string(name)]
      for signature in ["", "AA"] {
        #expect(throws: TokenDefect.self) {
          try verify("\(TokenText.message(head, claims)).\(signature)", published).get()
        }
      }
    }
    #expect(throws: TokenDefect.self) { try verify("\(TokenText.message([:], claims)).AA", published).get() }
    // The signature of one algorithm under the name of another.
    #expect(throws: TokenDefect.self) {
      try verify(signer.token(claims, head: ["alg": "ES256"]), set(TokenSigner(.p256).jwk(), signer.jwk())).get()
    }
    // A set that publishes a secret makes no key of it.
    let oct: Value = ["kty": "oct", "k": .string(TokenText.base64URL(secret)), "alg": "HS256"]
    #expect(
      verify(TokenText.hs256(claims, secret: secret), try set(oct, signer.jwk())) == .failure(.unknownKey))
  }

  @Test func `an empty and a zero signature on a curve are wrong`() throws {
    let set = try set(TokenSigner(.p256).jwk())
    let message = TokenText.message(["alg": "ES256"], claims)
    for signature in [
      [], [UInt8](repeating: 0, count: 64), [UInt8](repeating: 0, count: 63), [0x30, 0x06, 2, 1, 0, 2, 1, 0],
    ] {
      #expect(throws: TokenDefect.self) { try verify("\(message).\(TokenText.base64URL(signature))", set).get() }
    }
  }

  @Test(arguments: [.double(0x1p63), 1e300, .int(.max), "soon"] as [Value])
  func `an end that is no time is told from none`(expires: Value) throws {
    let set = try TokenKeySet(secret: secret)
    func reason(_ claims: [String: Value]) throws -> String? {
      if case .failure(let defect) = verify(TokenText.hs256(claims, secret: secret), set) { defect.reason } else { nil }
    }
    let without = claims.filter { $0.key != "exp" }
    #expect(try reason(without) == "the token does not say when it expires")
    #expect(
      try reason(without.merging(["exp": expires]) { $1 })
        == "the time at which the token expires is no time that can be")
  }

  @Test func `a life has two ends and a leeway`() throws {
    let set = try TokenKeySet(secret: secret)
    func isTaken(_ life: [String: Value], now: Int64) -> Bool {
      let token = TokenText.hs256(["sub": "u"].merging(life) { $1 }, secret: secret)
      return (try? verify(token, set, now: now).get()) != nil
    }
    #expect(isTaken(["exp": 1000], now: 1059) && !isTaken(["exp": 1000], now: 1060))
    #expect(isTaken(["exp": 1000.9], now: 999))
    #expect(isTaken(["exp": 9000, "nbf": 1000], now: 940) && !isTaken(["exp": 9000, "nbf": 1000], now: 939))
    #expect(!isTaken([:], now: 0))
    for wrong: Value in ["9000", .null, true, .double(1e300), .int(.max), .decimal("99999999999999999999"), [9000]] {
      #expect(!isTaken(["exp": wrong], now: 0), "\(wrong)")
      #expect(!isTaken(["exp": 9000, "nbf": wrong], now: 8000), "\(wrong)")
    }
  }

  @Test func `issuer, audience, subject and role are what the rules ask`() throws {
    let set = try TokenKeySet(secret: secret)
    func check(_ changes: [String: Value]) -> Result<TokenClaims, TokenDefect> {
      let token = TokenText.hs256(claims.merging(changes) { $1 }, secret: secret)
      return verify(token, set, TokenRules(issuer: "me", audience: "app", roleClaim: "r"))
    }
    #expect(try check([:]).get().role == nil)
    #expect(try check(["aud": ["x", "app"]]).get().subject == "u1")
    #expect(try check(["r": "admin"]).get().role == "admin")
    for changes: [String: Value] in [
      ["iss": "you"], ["iss": .null], ["iss": ["me"]], ["aud": "other"], ["aud": ["x"]], ["aud": [["app"]]],
      ["aud": .null], ["sub": ""], ["sub": 7], ["sub": .null], ["r": 7], ["r": ""],
    ] {
      #expect(throws: TokenDefect.self, "\(changes)") { try check(changes).get() }
    }
  }

  @Test func `what is no token is refused`() throws {
    let set = try TokenKeySet(secret: secret)
    let good = TokenText.hs256(claims, secret: secret)
    let long = TokenText.hs256(
      claims.merging(["x": .string(String(repeating: "x", count: 9000))]) { $1 }, secret: secret)
    for text in [
      "", ".", "..", "...", "a.b.c", good + ".", "." + good, good + "=", good + " ", " " + good, "é.é.é", long,
      good + "+",
    ] {
      #expect(throws: TokenDefect.self) { try verify(text, set).get() }
    }
    for head: [String: Value] in [
      ["alg": "HS256", "crit": ["exp"]], ["alg": "HS256", "b64": false], ["alg": "HS256", "kid": 7], ["alg": ["HS256"]],
    ] {
      #expect(throws: TokenDefect.self) { try verify(TokenText.hs256(claims, secret: secret, head: head), set).get() }
    }
    for defect in [verify("a.b.c", set), verify(long, set)] {
      guard case .failure(let defect) = defect else { continue }
      #expect(!defect.reason.contains("a.b.c"))
    }
  }

  @Test func `the id of a key chooses it, an unknown one is told apart`() throws {
    let one = try TokenSigner(.ed25519)
    let other = try TokenSigner(.ed25519)
    let set = try set(one.jwk(["kid": "1"]), other.jwk(["kid": "2"]))
    #expect(try verify(one.token(claims, head: ["alg": "EdDSA", "kid": "1"]), set).get().subject == "u1")
    #expect(try verify(other.token(claims), set).get().subject == "u1")
    #expect(
      verify(one.token(claims, head: ["alg": "EdDSA", "kid": "2"]), set)
        == .failure(.refused("the token's signature is wrong")))
    #expect(verify(one.token(claims, head: ["alg": "EdDSA", "kid": "3"]), set) == .failure(.unknownKey))
  }

  @Test func `sets of keys that cannot be used are refused`() throws {
    let rsa = try TokenSigner(.rsa(bits: 2048)).jwk()
    guard case .object(var point) = try TokenSigner(.p256).jwk() else { return }
    point["y"] = point["x"]
    let weak = try TokenSigner(.rsa(bits: 1024)).jwk()
    for text in ["", "[]", "{}", #"{"keys":[]}"#, #"{"keys":[7]}"#, #"{"keys":[{"kty":"RSA","n":"!","e":"AQAB"}]}"#] {
      #expect(throws: TokenKeyError.self, "\(text)") { try TokenKeySet(jwks: Array(text.utf8)) }
    }
    for keys: [Value] in [
      [weak], [.object(point)], [["kty": "OKP", "crv": "Ed25519", "x": "AA"]], [["kty": "EC", "crv": "P-384"]],
    ] {
      #expect(throws: TokenKeyError.self) {
        try TokenKeySet(jwks: Array(Value.object(["keys": .array(keys)]).json.utf8))
      }
    }
    #expect(try set(rsa, ["kty": "new"], ["kty": "RSA", "use": "enc"], weakNever(rsa)).keys.count == 1)
    let twice: Value = ["keys": [rsa.with("kid", "a"), rsa.with("kid", "a")]]
    #expect(throws: TokenKeyError.self) { try TokenKeySet(jwks: Array(twice.json.utf8)) }
  }

  private func weakNever(_ key: Value) -> Value { key.with("key_ops", ["encrypt"]) }
}

@Suite("Keys of tokens") struct TokenKeysTests {
  private final class Publisher: Sendable {
    let state = TestLock<(body: [UInt8], loadCount: Int)>(([], 0))
    func load() -> [UInt8] {
      state.withLock {
        $0.loadCount += 1
        return $0.body
      }
    }
    var loadCount: Int { state.withLock { $0.loadCount } }
    func publish(_ keys: Value...) {
      state.withLock { $0.body = Array(Value.object(["keys": .array(keys)]).json.utf8) }
    }
  }

  private func settled(_ keys: TokenKeys, _ publisher: Publisher, _ count: Int) async {
    while publisher.loadCount < count { await Task.yield() }
  }

  @Test func `keys are loaded, loaded again when one is unknown, and not in a hurry`() async throws {
    let publisher = Publisher()
    let keys = TokenKeys { publisher.load() }
    #expect(keys.current(now: 0) == nil)
    await settled(keys, publisher, 1)
    publisher.publish(try TokenSigner(.ed25519).jwk(["kid": "1"]))
    try await keys.reload(now: 1000)
    #expect(keys.current(now: 1000)?.keys.map(\.id) == ["1"])

    publisher.publish(try TokenSigner(.ed25519).jwk(["kid": "2"]))
    // Just loaded: whoever makes up key ids makes nobody load.
    #expect(!keys.beginReload(now: 1029))
    #expect(keys.beginReload(now: 1030))
    await settled(keys, publisher, 3)
    while keys.current(now: 1030)?.keys.first?.id != "2" { await Task.yield() }
    #expect(publisher.loadCount == 3)
  }

  @Test func `keys that are old are loaded again, and kept for a day where that fails`() async throws {
    let publisher = Publisher()
    let keys = TokenKeys { publisher.load() }
    publisher.publish(try TokenSigner(.ed25519).jwk())
    try await keys.reload(now: 0)
    #expect(keys.current(now: 600) != nil)
    #expect(publisher.loadCount == 1)
    publisher.state.withLock { $0.body = [] }
    #expect(keys.current(now: 601) != nil)
    await settled(keys, publisher, 2)
    await #expect(throws: TokenKeyError.self) { try await keys.reload(now: 86_400) }
    #expect(keys.current(now: 86_400) != nil)
    #expect(keys.current(now: 86_401) == nil)
  }

  @Test func `fixed keys stay`() throws {
    let keys = TokenKeys(try TokenKeySet(secret: [UInt8](repeating: 7, count: 32)))
    #expect(keys.current(now: .max) != nil && !keys.beginReload(now: .max))
  }
}

extension Value {
  fileprivate func with(_ name: String, _ value: Value) -> Value {
    guard case .object(var members) = self else { return self }
    members[name] = value
    return .object(members)
  }
}
