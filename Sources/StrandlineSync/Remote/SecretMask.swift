internal import StrandlineProtocol

/// Takes what is secret out of texts that come from outside, and bounds them: servers and proxies repeat what they were sent.
struct SecretMask: Sendable {
  /// Most characters of a text that is told on.
  static let characterCountMax = 1000
  /// What is shorter stands in texts by chance.
  private static let byteCountMin = 8
  private static let mark = "[secret]"

  private let secrets: [String]

  /// - Parameter secrets: whole tokens and keys. Of a token the signature is one by itself: what is before it says who, and proves nothing.
  init(_ secrets: [String?]) {
    var all: [String] = []
    for secret in secrets.compactMap({ $0 }) {
      all.append(secret)
      let parts = secret.split(separator: ".", omittingEmptySubsequences: false)
      if parts.count == 3 { all.append(String(parts[2])) }
    }
    self.secrets = all.filter { $0.utf8.count >= Self.byteCountMin }
  }

  /// The text as it may be told: without secrets, and cut.
  func told(_ text: String) -> String {
    var bytes = Array(text.utf8)
    for secret in secrets { bytes = Self.masked(bytes, Array(secret.utf8)) }
    let text = String(decoding: bytes, as: UTF8.self)
    let scalars = text.unicodeScalars
    guard let end = scalars.index(scalars.startIndex, offsetBy: Self.characterCountMax, limitedBy: scalars.endIndex),
      end != scalars.endIndex
    else { return text }
    return String(scalars[..<end]) + "…"
  }

  func told(_ failure: RemoteFailure) -> RemoteFailure {
    var failure = failure
    switch failure.kind {
    case .refused(let answer, let status):
      let code = answer.code.map { TransportCode(rawValue: told($0.rawValue)) }
      failure.kind = .refused(ErrorAnswer(code: code, message: told(answer.message)), status: status)
    case .unreachable(let reason, let cause): failure.kind = .unreachable(reason: told(reason), underlying: cause)
    case .undecodable(let defect):
      failure.kind = .undecodable(MessageDefect(path: told(defect.path), reason: told(defect.reason)))
    case .answerTooLarge: break
    }
    failure.notes = told(failure.notes)
    return failure
  }

  func told(_ notes: AnswerNotes) -> AnswerNotes {
    var notes = notes
    notes.history = notes.history.map { told($0) }
    notes.resetCause = notes.resetCause.map { told($0) }
    notes.unknownTables = notes.unknownTables.map { told($0) }
    return notes
  }

  func told(_ error: SyncError) -> SyncError {
    var error = error
    error.message = told(error.message)
    error.serverCode = error.serverCode.map { TransportCode(rawValue: told($0.rawValue)) }
    return error
  }

  private static func masked(_ text: [UInt8], _ secret: [UInt8]) -> [UInt8] {
    guard text.count >= secret.count, let first = secret.first else { return text }
    var made: [UInt8] = []
    var place = 0
    while place < text.count {
      if text[place] == first, text[place...].starts(with: secret) {
        made += Array(mark.utf8)
        place += secret.count
      } else {
        made.append(text[place])
        place += 1
      }
    }
    return made
  }
}

/// A remote that holds something that no text may show.
protocol SecretHolder {
  var secrets: [String] { get }
}

extension SyncClient {
  /// For what a remote says: the token in force, and what the remote holds.
  var secretMask: SecretMask {
    SecretMask([withMemory { $0.token }] + ((configuration.remote as? any SecretHolder)?.secrets ?? []))
  }
}
