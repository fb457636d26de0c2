/// The token of the moment, and whether it makes sense to ask with it.
///
/// A token may have expired without anybody's fault, so its first refusal is nobody's business: the next run asks for another. A second in
/// a row, or a renewal that is given up, means that the user has to sign in; until then nothing is asked.
struct SessionAccess: Sendable {
  private(set) var token: String?
  /// The user has to sign in: no request before another token comes.
  private(set) var isGivenUp = false
  private var refusalCount = 0
  /// Goes up with each other token.
  private var number = 0
  /// Of the token that the last request went out with.
  private var requestNumber = 0

  /// Whether a request makes sense.
  var isSignedIn: Bool { token != nil && !isGivenUp }

  mutating func set(_ token: String?) {
    guard token != self.token else { return }
    self.token = token
    number += 1
    // A renewed token that is refused too counts on.
    if isGivenUp || token == nil { refusalCount = 0 }
    isGivenUp = false
  }

  /// A request goes out with the token.
  mutating func requested() { requestNumber = number }

  /// A request was answered.
  mutating func answered() { refusalCount = 0 }

  /// The last request's token was refused.
  ///
  /// - Returns: whether another token will not come by itself. True once, for nothing is asked behind it.
  mutating func refused() -> Bool {
    // Another token has come meanwhile; nothing is known of it.
    guard requestNumber == number else { return false }
    refusalCount += 1
    isGivenUp = refusalCount >= 2
    return isGivenUp
  }

  /// A renewal was given up. Of a token that nobody has refused this says nothing: it may still do.
  ///
  /// - Returns: as ``refused()``.
  mutating func renewalGivenUp() -> Bool {
    guard refusalCount > 0, !isGivenUp else { return false }
    isGivenUp = true
    return true
  }
}
