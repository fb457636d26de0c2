import Foundation
import FoundationNetworking
import StrandlineSync
import StrandlineTestSupport
import Testing

@Suite("Error model") @MainActor struct SyncErrorModelTests {
  private struct Odd: Error {}

  private func shown(_ errors: [any Error], _ model: SyncErrorModel = SyncErrorModel()) async -> (any Error)? {
    for error in errors { model.receive(error) }
    // What was received before this task was handed to the main actor before it, too.
    await Task { @MainActor in }.value
    return model.error
  }

  private func remote(_ cause: (any Error)?) -> SyncError { SyncError(.remote, "m", originalError: cause) }

  @Test func `what is tried again by itself is ignored`() async {
    #expect(await shown([POSIXError(.ETIMEDOUT), SyncError(.storeBusy, "m"), remote(nil)]) == nil)
    for code: URLError.Code in [.timedOut, .cannotConnectToHost, .notConnectedToInternet, .cannotFindHost] {
      #expect(await shown([URLError(code), remote(URLError(code))]) == nil)
    }
    #expect(await shown([remote(POSIXError(.ECONNREFUSED))]) == nil)
  }

  @Test func `everything else is shown, the newest first, until it is dismissed`() async {
    let model = SyncErrorModel()
    #expect(!model.isPresented)
    #expect(await shown([Odd()], model) is Odd)
    let newer = await shown([SyncError(.permanentTransport, "no"), URLError(.timedOut)], model) as? SyncError
    #expect(newer?.catalogueCode == .permanentTransport && model.isPresented)
    model.isPresented = false
    #expect(model.error == nil)
    #expect(await shown([POSIXError(.ENOSPC)], model) is POSIXError)
    for error: any Error in [
      URLError(.secureConnectionFailed), SyncError(.store, "m", originalError: POSIXError(.EPIPE)),
    ] {
      model.dismiss()
      #expect(await shown([error], model) != nil, "\(error)")
    }
  }

  @Test func `what is ignored can be chosen`() async {
    let model = SyncErrorModel(ignoring: { $0 is Odd })
    #expect(await shown([Odd()], model) == nil)
    #expect(await shown([URLError(.timedOut)], model) is URLError)
  }
}
