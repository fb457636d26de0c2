/// Where a client's token comes from: a file or the environment, never the command line, which all users of a machine can read.
struct AccessToken {
  static let variable = "STRANDLINE_TOKEN"
  static let option = CommandSpecification.Option(
    "--token-file", "FILE",
    summary: "File with the access token (default: the settings' tokenFile, else the variable \(variable)).")

  /// Nil: the environment's.
  let file: String?

  /// The token as it is now; nil: there is none.
  ///
  /// - Throws: ``Failure`` if there is no such file, or no token in it. The message holds nothing of it.
  func read() throws(Failure) -> String? {
    guard let file else { return Console.environmentValue(Self.variable) }
    let bytes = try SettingsFile.readLine(file)
    guard let token = String(validating: bytes, as: UTF8.self), !token.isEmpty else {
      throw Failure(.usage, "\(file): holds no token")
    }
    guard token.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
      throw Failure(.usage, "\(file): a token is one line without spaces; there is more in it")
    }
    return token
  }

  /// The token of a command that speaks to a server.
  func required() throws(Failure) -> String {
    guard let token = try read() else {
      throw Failure(
        .usage, "no access token: give --token-file, or \"tokenFile\" in the settings, or set \(Self.variable)")
    }
    return token
  }
}
