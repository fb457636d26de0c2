internal import StrandlineSync

/// How a call of a client ended, where both ends are something to compare.
enum CallOutcome {
  case success
  /// With the code of the catalogue, or what else it was.
  case failure(code: String, message: String)

  init(_ body: () async throws -> Void) async {
    do {
      try await body()
      self = .success
    } catch let error as SyncError {
      self = .failure(code: error.catalogueCode?.rawValue ?? "\(error.code)", message: error.message)
    } catch {
      self = .failure(code: "\(type(of: error))", message: "\(error)")
    }
  }

  /// Throws if the call failed.
  func expectSuccess(_ subject: String) throws(CaseFailure) {
    if case .failure(let code, let message) = self {
      throw CaseFailure(subject, "has to succeed, and failed: \(code): \(message)")
    }
  }

  /// Throws unless the call failed, with this code if one is wanted.
  func expectFailure(_ subject: String, code wanted: String?) throws(CaseFailure) {
    switch self {
    case .success: throw CaseFailure(subject, "has to fail\(wanted.map { " with \($0)" } ?? ""), and succeeded")
    case .failure(let code, let message):
      guard let wanted, wanted != code else { return }
      throw CaseFailure(subject, "has to fail with \(wanted), and failed with \(code): \(message)")
    }
  }
}
