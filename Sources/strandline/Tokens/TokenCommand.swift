import StrandlineServer
import StrandlineSync

/// `strandline token`: a token that a server with a secret takes.
struct TokenCommand: Command {
  static let specification = CommandSpecification(
    name: "token",
    summary: "Make a token for development, signed with the secret of a server's settings.",
    discussion: [
      "Prints a JSON Web Token (HS256) for USER that `strandline serve` with the same settings takes: with the issuer,",
      "the audience and the role's claim that they name. Whoever has the secret can be any user, so keep it to development.",
      "A server whose settings name public keys takes the tokens of whoever holds the private ones.",
      "  strandline token ann --config server.json > ann.token",
    ],
    positionals: [.init(name: "USER", summary: "Whom the token is for: its subject.")],
    options: [
      .init("--config", "FILE", summary: "The server's settings.", isRequired: true),
      .init("--role", "ROLE", summary: "The role (default: none, which the server takes for authenticated)."),
      .init("--days", "N", summary: "Days that the token is good for, 1 to 3650 (default 30)."),
    ])

  private let user: String
  private let config: String
  private let role: String?
  private let days: Int

  init(_ arguments: Arguments) throws(UsageError) {
    user = arguments.positional(0)
    config = try arguments.required("--config", "FILE")
    role = arguments.value("--role")
    if role == "" { throw .invalidValue(option: "--role", value: "", expected: "a name") }
    days = try arguments.integer("--days", in: 1...3650) ?? 30
  }

  func run(_ console: Console) throws -> ExitCode {
    let settings = try ServeSettings(file: config)
    guard case .secretFile(let path) = settings.keys else {
      throw Failure(.usage, "\(config): names no secretFile; tokens for this server are signed elsewhere")
    }
    let secret = try SettingsFile.readLine(path)
    let expires = MachineClock().milliseconds() / 1000 + Int64(days) * 86_400
    let token: String
    do throws(TokenKeyError) {
      token = try DevelopmentTokenSigner(secret: secret).token(
        for: user, rules: settings.rules, role: role, expires: expires)
    } catch {
      throw Failure(.usage, "\(path): \(error)")
    }
    try console.print(token)
    return .success
  }
}
