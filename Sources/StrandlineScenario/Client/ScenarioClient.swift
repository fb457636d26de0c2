internal import StrandlineSync

/// How the clients of scenarios are opened.
enum ScenarioClient {
  /// In memory, with events delivered within the call that raises them.
  static func open(_ configuration: SyncConfiguration) async throws -> SyncClient {
    var configuration = configuration
    configuration.storePath = nil
    configuration.storeOptions = ScenarioStore.options
    configuration.deliverOn = { delivery in delivery() }
    // What a call fails with is what the case looks at.
    configuration.log = { _ in }
    return try await SyncClient.open(configuration)
  }

  /// A token for a user, of the shape that clients read: nobody checks its signature here.
  static func token(for user: String) -> String {
    "\(base64URL(#"{"alg":"none"}"#)).\(base64URL(Value.object(["sub": .string(user)]).json)).c2NlbmFyaW8"
  }

  private static func base64URL(_ text: String) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    var result = ""
    var bits = 0
    var bitCount = 0
    for byte in text.utf8 {
      bits = (bits << 8 | Int(byte)) & 0xFFFF
      bitCount += 8
      while bitCount >= 6 {
        bitCount -= 6
        result.append(alphabet[bits >> bitCount & 63])
      }
    }
    if bitCount > 0 { result.append(alphabet[bits << (6 - bitCount) & 63]) }
    return result
  }
}

/// A clock of a client that is the clock of its case.
extension StepClock: SyncClock {}
