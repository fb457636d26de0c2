@_spi(Engine) import Strandline
@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// The manual way: a recorded action, its token, and the copy that it keeps.
struct ManualResetTests {
  private struct Blocked {
    var test: ResetTest
    var info: ClientResetInfo
  }

  /// A client in manual mode that has been told to reset.
  private static func blocked(at path: String, handler: ErrorHandler? = nil) async throws -> Blocked {
    let test = try await ResetTest.open(.manual(handler: handler), at: path)
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    let error = await #expect(throws: SyncError.self) { try await test.client.sync() }
    return Blocked(test: test, info: try #require(error?.resetInfo))
  }

  @Test func `the action is recorded, told once with token and path, and nothing is erased (cases 2, 8)`() async throws
  {
    let directory = TemporaryDirectory()
    let blocked = try await Self.blocked(at: "\(directory.path)/store")
    let test = blocked.test
    #expect(blocked.info.reason == .manual && blocked.info.isAutomatic)
    #expect(blocked.info.token != nil && blocked.info.keptCopyPath?.hasPrefix("\(directory.path)/store/kept-") == true)
    #expect(try await test.columns("a")?["title"] == "mine")
    #expect(try await test.depth() == 1)
    #expect((await test.eventNames()).filter { $0 == "RESET_REQUIRED" }.count == 1)
    try await test.client.sync()
    await test.settle()
    #expect(test.errors.reset.count == 1)
    try await test.client.close()
  }

  @Test func `a single pull or push that finds the loss records and tells of it too`() async throws {
    for pulls in [true, false] {
      let directory = TemporaryDirectory()
      let test = try await ResetTest.open(.manual(), at: "\(directory.path)/store")
      try await test.loseHistory()
      try await test.update("a", ["title": "mine"], id: "m1")
      if pulls { try await test.client.pullOnce() } else { try await test.client.pushOnce() }
      await test.settle()
      #expect(test.errors.reset.map(\.reason) == [.manual] && test.errors.reset[0].token != nil)
      #expect(test.log.names.filter { $0 == "RESET_REQUIRED" }.count == 1)
      try await test.client.sync()
      await test.settle()
      #expect(test.errors.reset.count == 1)
      try await test.client.close()
    }
  }

  @Test func `the token performs the action once: a copy, an empty store, a new identity (cases 1, 14, 16)`()
    async throws
  {
    let directory = TemporaryDirectory()
    let blocked = try await Self.blocked(at: "\(directory.path)/store")
    let test = blocked.test
    let token = try #require(blocked.info.token)
    let id = try await test.client.inspect().clientID
    let sequence = try test.client.read { $0.sequence }
    #expect(await code { try await test.client.performResetAction(ResetToken("foreign")) } == .resetActionGone)
    // Nothing was touched: no commit, no copy, and the token is still good.
    #expect(try test.client.read { $0.sequence } == sequence)
    #expect(try await test.depth() == 1)
    #expect(try await test.client.keptCopies().isEmpty)
    #expect(try await test.columns("a")?["title"] == "mine")
    try await test.client.performResetAction(token)
    #expect(try await test.rows().isEmpty)
    #expect(try await test.depth() == 0)
    #expect(try await !test.isBlocked())
    #expect(try await test.client.inspect().clientID != id)
    #expect(await code { try await test.client.performResetAction(token) } == .resetActionGone)
    #expect((await test.eventNames()).suffix(2) == ["LOCAL_CHANGED", "DID_RESET"])
    let copies = try await test.client.keptCopies()
    #expect(copies.map(\.path) == [blocked.info.keptCopyPath])
    try await test.client.sync()
    #expect(try await test.columns("a")?["title"] == "restored")
    let report = try #require(try await test.reports().last)
    #expect(report.effectiveMode == .manual && report.entries.discarded == 1)
    try await test.client.close()
  }

  @Test func `the same process never runs the action by itself, a later one does at open`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let blocked = try await Self.blocked(at: path)
    try await blocked.test.client.close()
    let same = try await ResetTest.open(.manual(), server: blocked.test.server, at: path)
    #expect(try await same.columns("a")?["title"] == "mine")
    #expect(await resetReason { try await same.client.sync() } == .manual, "reopening shows the same again")
    // As if another process had recorded it.
    try await same.client.commit(.resetAction) { state in
      var record = try #require(try state.resetRecord())
      record.action?.launch = "another"
      try state.set(record)
    }
    try await same.client.close()
    let older = try await ResetTest.open(.manual(), server: blocked.test.server, at: path) { _ in }
    #expect(try await older.rows().isEmpty)
    #expect(try await older.client.keptCopies().count == 1)
    try await older.client.sync()
    #expect(try await older.columns("a")?["title"] == "restored")
    try await older.client.close()
  }

  @Test func `without an open client the token works on the path, under the lock (cases 7, 20)`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let blocked = try await Self.blocked(at: path)
    let token = try #require(blocked.info.token)
    await #expect(throws: StoreError.self) { try await SyncClient.performResetAction(token, at: path) }
    try await blocked.test.client.close()
    try await SyncClient.performResetAction(token, at: path)
    #expect(await code { try await SyncClient.performResetAction(token, at: path) } == .resetActionGone)
    let again = try await ResetTest.open(.manual(), server: blocked.test.server, at: path)
    #expect(try await again.rows().isEmpty)
    #expect(try await again.client.keptCopies().count == 1)
    try await again.client.close()
    // A store that is gone needs no action.
    try await SyncClient.performResetAction(token, at: "\(directory.path)/nothing")
  }

  @Test func `a copy that was made before a crash is known again, and no second one is made (case 19)`() async throws {
    let directory = TemporaryDirectory()
    let blocked = try await Self.blocked(at: "\(directory.path)/store")
    let test = blocked.test
    let name = try #require(blocked.info.keptCopyPath?.split(separator: "/").last.map(String.init))
    // The copy is there, and the reset behind it is not.
    _ = try await test.client.store.backup(to: "\(directory.path)/store/\(name)")
    try await test.client.performResetAction(try #require(blocked.info.token))
    #expect(try await test.client.keptCopies().map(\.name) == [name])
    try await test.client.close()
  }

  @Test(arguments: [true, false], [true, false])
  func `handlers: the manual one before errorHandler, for resets alone (cases 4, 5)`(
    _ hasManual: Bool, _ hasHandler: Bool
  )
    async throws
  {
    let directory = TemporaryDirectory()
    let manual = ResetTest.ErrorLog()
    let other = ResetTest.ErrorLog()
    let server = SmallServer()
    let noted: ErrorHandler = { error, _ in manual.add(error) }
    let told: ErrorHandler = { error, _ in other.add(error) }
    let mode = ClientResetMode.manual(handler: hasManual ? noted : nil)
    let test = try await ResetTest.open(mode, server: server, at: "\(directory.path)/store")
    test.client.errorHandler = hasHandler ? told : nil
    try await test.loseHistory()
    #expect(await resetReason { try await test.client.sync() } == .manual)
    try await test.client.performResetAction(
      try #require(try test.client.read { try $0.resetRecord()?.action?.token }).asToken)
    server.change { $0.isOffline = true }
    await #expect(throws: SyncError.self) { try await test.client.sync() }
    await test.settle()
    #expect(manual.all.count == (hasManual ? 1 : 0))
    #expect(other.all.count == (hasHandler ? (hasManual ? 1 : 2) : 0))
    try await test.client.close()
  }

  @Test func `an automatic mode takes over from a manual one, and the action is gone`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let blocked = try await Self.blocked(at: path)
    try await blocked.test.client.close()
    let again = try await ResetTest.open(server: blocked.test.server, at: path)
    try await again.client.sync()
    #expect(again.server.columns("a")?["title"] == "mine")
    #expect(
      await code { try await again.client.performResetAction(blocked.info.token ?? ResetToken("")) } == .resetActionGone
    )
    try await again.client.close()
  }

  @Test func `case 17: a newer action takes the place of an older one, whose token is void`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let blocked = try await Self.blocked(at: path)
    let old = try #require(blocked.info.token)
    try await blocked.test.client.close()
    blocked.test.server.change { $0.isRecoveryForbidden = true }
    let again = try await ResetTest.open(server: blocked.test.server, at: path, ids: CountingIDs(from: 10_000))
    let error = await #expect(throws: SyncError.self) { try await again.client.sync() }
    let token = try #require(error?.resetInfo?.token)
    #expect(token != old)
    #expect(await code { try await again.client.performResetAction(old) } == .resetActionGone)
    #expect(try await again.columns("a")?["title"] == "mine")
    try await again.client.performResetAction(token)
    #expect(try await again.client.keptCopies().map(\.path) == [error?.resetInfo?.keptCopyPath])
    try await again.client.close()
  }

  // MARK: Copies

  @Test func `the rescue recipe: open the copy, list its queue, write what is wanted into the live client`()
    async throws
  {
    let directory = TemporaryDirectory()
    let test = try await ResetTest.open(.discardUnsyncedChanges(), at: "\(directory.path)/store")
    try await test.loseHistory()
    try await test.update("b", ["title": "unsaved"], id: "m1")
    try await test.insert("d", ["title": "new"], id: "m2")
    try await test.client.sync()
    #expect(try await test.rows()["d"] == nil)
    // The recipe.
    let copy = try #require(try await test.client.keptCopies().last)
    let view = try await copy.view(ResetTest.tables)
    for mutation in try view.pendingMutations() where mutation.operation == .insert {
      try await test.client.apply(.insert, to: mutation.table, pk: mutation.pk, columns: mutation.columns)
    }
    try await test.client.sync()
    #expect(test.server.columns("d") == ["title": "new"])
    #expect(try view.query("todos", QueryPlan()).rows.count == 3)
    #expect(copy.report?.entries.discarded == 2)
    try await test.client.close()
  }

  @Test(arguments: [KeptCopyPolicy.Moment.never, .whenNeeded, .always])
  func `a copy is made as the policy says`(_ moment: KeptCopyPolicy.Moment) async throws {
    let directory = TemporaryDirectory()
    let test = try await ResetTest.open(at: "\(directory.path)/store") { $0.keptCopies = KeptCopyPolicy(moment) }
    test.server.put("a", ["id": "a"])
    try await test.client.sync()
    // Nothing is lost: needed by nobody.
    try await test.client.startClientReset()
    #expect(try await test.client.keptCopies().count == (moment == .always ? 1 : 0))
    try await test.insert("x", ["y": 1])
    try await test.client.startClientReset(.discardUnsyncedChanges())
    #expect(try await test.client.keptCopies().count == (moment == .always ? 2 : moment == .never ? 0 : 1))
    try await test.client.close()
  }

  @Test func `copies go where the policy says, each store's into a directory of its own`() async throws {
    let directory = TemporaryDirectory()
    let place = "\(directory.path)/copies/of/all"
    var paths: [String] = []
    for name in ["one", "two"] {
      let path = "\(directory.path)/\(name)"
      let policy = KeptCopyPolicy(.always, directory: place)
      let test = try await ResetTest.open(at: path) { $0.keptCopies = policy }
      test.server.put("a", ["id": "a"])
      try await test.client.sync()
      try await test.client.startClientReset()
      let copy = try #require(try await test.client.keptCopies().first)
      paths.append(copy.path)
      #expect(copy.path.hasPrefix("\(place)/") && copy.report?.keptCopy.path == copy.path)
      #expect(try test.client.store.keptCopyNames().isEmpty)
      let store = try await copy.open()
      #expect(try store.view().query("todos").count() == 1)
      try await store.close()
      // What a crash left goes with the next open, and what is anybody else's stays.
      let own = String(copy.path.dropLast(copy.name.utf8.count + 1))
      DirectoryProbe.makeDirectory("\(own)/\(copy.name).tmp")
      DirectoryProbe.write([1], to: "\(own)/note")
      #expect(try await test.client.reset(keepCopy: true).keptCopy?.hasPrefix("\(own)/kept-") == true)
      try await test.client.close()
      let again = try await ResetTest.open(server: test.server, at: path, ids: CountingIDs(from: 10_000)) {
        $0.keptCopies = policy
      }
      #expect(!DirectoryProbe.exists("\(own)/\(copy.name).tmp") && DirectoryProbe.exists("\(own)/note"))
      #expect(try await again.client.keptCopies().count == 2)
      try await again.client.remove(copy)
      #expect(!DirectoryProbe.exists(copy.path))
      try await again.client.close()
    }
    #expect(Set(paths.map { $0.split(separator: "/").dropLast().last }).count == 2)
  }

  @Test func `an action's copy goes where it was planned, also by its token alone, and in another configuration`()
    async throws
  {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    for opens in [true, false] {
      DirectoryProbe.remove(path)
      let test = try await ResetTest.open(.manual(), at: path) {
        $0.keptCopies = KeptCopyPolicy(directory: "\(directory.path)/copies")
      }
      try await test.loseHistory()
      try await test.update("a", ["title": "mine"])
      let error = await #expect(throws: SyncError.self) { try await test.client.sync() }
      let (token, planned) = (try #require(error?.resetInfo?.token), try #require(error?.resetInfo?.keptCopyPath))
      #expect(planned.hasPrefix("\(directory.path)/copies/") && !DirectoryProbe.exists(planned))
      try await test.client.close()
      if opens {
        let again = try await ResetTest.open(.manual(), server: test.server, at: path, ids: CountingIDs(from: 10_000))
        try await again.client.performResetAction(token)
        #expect(try await again.client.resetHistory().last?.keptCopy.path == planned)
        try await again.client.close()
      } else {
        try await SyncClient.performResetAction(token, at: path)
      }
      let view = try await KeptCopy(path: planned, report: nil).view(ResetTest.tables)
      #expect(try view.pendingMutations().count == 1)
    }
  }

  @Test func `a directory that cannot be made ends the attempt where the copy is needed, and nothing has changed`()
    async throws
  {
    let directory = TemporaryDirectory()
    DirectoryProbe.write([1], to: "\(directory.path)/file")
    let test = try await ResetTest.open(at: "\(directory.path)/store") {
      $0.keptCopies = KeptCopyPolicy(.always, directory: "\(directory.path)/file/copies")
    }
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"])
    #expect(await code { try await test.client.sync() } == .store)
    #expect(try await test.columns("a")?["title"] == "mine")
    #expect(try await test.reports().isEmpty)
    #expect(try await test.depth() == 1)
    DirectoryProbe.remove("\(directory.path)/file")
    try await test.client.sync()
    #expect(test.server.columns("a")?["title"] == "mine")
    #expect(try await test.client.keptCopies().count == 1)
    try await test.client.close()
  }

  @Test func `a copy can be read, is not opened for writing by a client, and can be removed`() async throws {
    let directory = TemporaryDirectory()
    let test = try await ResetTest.open(at: "\(directory.path)/store") { $0.keptCopies = KeptCopyPolicy(.always) }
    test.server.put("a", ["id": "a"])
    try await test.client.sync()
    try await test.client.startClientReset()
    let copy = try #require(try await test.client.keptCopies().first)
    let store = try await copy.open()
    #expect(try store.view().query("todos").count() == 1)
    await #expect(throws: (any Error).self) { try await store.write { tx in _ = try tx.put(["x": 1], into: "todos") } }
    try await store.close()
    #expect(await code { _ = try await ResetTest.open(at: copy.path) } == .configInvalid)
    try await test.client.remove(copy)
    #expect(try await test.client.keptCopies().isEmpty)
    #expect(!DirectoryProbe.exists(copy.path))
    try await test.client.close()
  }

  @Test func `retention: the oldest first, never one younger than a day, one that is named, or the newest`() {
    func name(_ day: Int, _ id: Int) -> String {
      "kept-202601\(day < 10 ? "0" : "")\(day)T000000Z-000000000000000\(id)"
    }
    let day: Int64 = 86_400_000
    let january: Int64 = 1_767_225_600_000
    let names = (1...8).map { name($0, $0) }
    let policy = KeptCopyPolicy(countMax: 5, ageMax: .seconds(30 * 86_400))
    func removable(_ now: Int64, _ named: Set<String> = []) -> [String] {
      KeptCopyRetention.removable(names, policy: policy, named: named, now: january + now)
    }
    #expect(removable(8 * day) == Array(names[..<3]))
    #expect(removable(8 * day, [names[0]]) == Array(names[1..<4]))
    #expect(removable(40 * day) == Array(names[..<7]))
    #expect(removable(2 * day - 1) == [names[0]])
    #expect(KeptCopyRetention.milliseconds(of: name(1, 1)) == january)
    // Bytes.
    var capped = policy
    capped.byteCountMax = 25
    capped.countMax = 100
    func removable(_ counts: [Int64]) -> [String] {
      KeptCopyRetention.removable(
        names, policy: capped, named: [names[1]], now: january + 9 * day,
        byteCounts: Dictionary(uniqueKeysWithValues: zip(names, counts)))
    }
    #expect(removable([5, 5, 5, 5, 5, 0, 0, 0]) == [])
    #expect(removable([5, 5, 5, 5, 6, 0, 0, 0]) == [names[0]])
    #expect(removable([1, 100, 1, 1, 1, 1, 1, 1]) == [names[0]] + names[2..<7])
  }

  @Test func `bytes that copies alone hold are kept below their most`() async throws {
    for limit in [Int64.max, 0] {
      let directory = TemporaryDirectory()
      let clock = TestClock()
      let test = try await ResetTest.open(at: "\(directory.path)/store", clock: clock) {
        $0.keptCopies = KeptCopyPolicy(.always, byteCountMax: limit)
      }
      test.server.put("a", ["id": "a"])
      try await test.client.sync()
      for _ in 1...3 {
        clock.advance(2 * 86_400_000)
        try await test.client.startClientReset()
      }
      clock.advance(2 * 86_400_000)
      try await test.client.startClientReset()
      // The newest stays in any case.
      #expect(try await test.client.keptCopies().count == (limit == 0 ? 1 : 4))
      try await test.client.close()
    }
  }

  @Test func `in memory there are no copies, and the report says so`() async throws {
    let test = try await ResetTest.open(.discardUnsyncedChanges())
    try await test.loseHistory()
    try await test.client.sync()
    let report = try #require(try await test.reports().last)
    #expect(report.keptCopy.path == nil && report.keptCopy.absence == "the store is in memory")
    try await test.client.close()
  }

  @Test func `a plain reset wipes record and demand, and keeps of the reports no keys`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    try await test.update("b", ["title": "lost"], id: "secret")
    try await test.client.sync()
    #expect(try await test.reports().last?.dropped.first?.mutationID == "secret")
    try await test.client.reset()
    let report = try #require(try await test.reports().last)
    #expect(report.dropped.isEmpty && report.droppedTruncated && report.entries.dropped == 1)
    let view = try test.client.store.view()
    #expect(try view.resetRecord() == nil)
    #expect(try view.resetDemand() == nil)
    try await test.client.close()
  }
}

extension String {
  fileprivate var asToken: ResetToken { ResetToken(self) }
}
