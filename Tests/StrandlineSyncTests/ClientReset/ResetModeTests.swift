import StrandlineProtocol
import Testing

@testable @_spi(Scenario) import StrandlineSync

struct ResetModeTests {
  @Test func `the default is recover`() {
    #expect(SyncConfiguration(tables: [:], remote: ScriptedRemote()).clientReset.name == .recover)
  }

  @Test(arguments: [
    ("manual", ClientResetMode.Name.manual), ("discard", .discard), ("recover", .recover),
    ("recover-or-discard", .recoverOrDiscard), ("discardLocal", .discard),
  ])
  func `modes by their words`(_ word: String, _ name: ClientResetMode.Name) throws {
    #expect(try ClientResetMode(text: word).name == name)
  }

  @available(*, deprecated, message: "tests the deprecated name")
  @Test func `the deprecated name reads back under the new one`() {
    #expect(ClientResetMode.discardLocal().name == .discard)
  }

  @Test func `combinations that mean nothing are refused before anything is opened`() {
    #expect(throws: SyncError.self) { try ClientResetMode(text: "sometimes") }
    #expect(throws: SyncError.self) { try ClientResetMode(.manual, before: { _ in }) }
    #expect(throws: SyncError.self) { try ClientResetMode(.manual, after: { _, _, _ in }) }
    for name in [ClientResetMode.Name.discard, .recover, .recoverOrDiscard] {
      #expect(throws: SyncError.self) { try ClientResetMode(name, handler: { _, _ in }) }
    }
  }

  @Test func `settings out of range are refused`() async {
    for change in [
      { (configuration: inout SyncConfiguration) in configuration.callbackLimit = .zero },
      { configuration in configuration.keptCopies.countMax = 0 },
    ] {
      #expect(await code { _ = try await ResetTest.open(change: change) } == .configInvalid)
    }
  }
}
