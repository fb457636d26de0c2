/// On whose behalf a request is made; whoever checked the token says so.
public struct Caller: Hashable, Sendable {
  /// The subject of the token. Compared byte by byte, never normalised.
  public var userID: String
  /// Decides column privileges; see ``ServerTable/privileges``.
  public var role: String

  public init(userID: String, role: String = Caller.defaultRole) {
    self.userID = userID
    self.role = role
  }

  /// The role of a token that names none.
  public static let defaultRole = "authenticated"
  /// Bytes that a user id has at most, zero bytes counted thrice.
  public static let userIDByteCountMax = 256
}
