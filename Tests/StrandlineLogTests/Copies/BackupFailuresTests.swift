import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// A backup whose calls fail: what stands then, and what the error says of it.
struct BackupFailuresTests {
  @Test func `a backup that fails leaves nothing, or says that the whole copy stands`() throws {
    var unconfirmedCount = 0
    var number = 0
    while true {
      let store = DamagedLog()
      try store.append(0..<12)
      let faulty = FaultyFileSystem(store.disk)
      let opened = try store.open(on: faulty)
      faulty.fail(call: number, with: .errno(Errno(5)))
      do throws(LogError) {
        try opened.log.backup(to: "/copy")
        if faulty.struckCalls.isEmpty { break }
      } catch {
        faulty.heal()
        var stands = false
        if case .copyUnconfirmed(path: "/copy", _) = error { stands = true }
        unconfirmedCount += stands ? 1 : 0
        #expect(
          store.disk.image.names(in: "/") == (stands ? ["copy", "store"] : ["store"]), "call \(number): \(error)")
        #expect(!"\(error)".contains(".tmp-"), "call \(number): \(error)")
        if stands {
          #expect("\(error)".hasPrefix("/copy: stands whole, but /: sync of the directory failed"), "\(error)")
          var options = store.options
          options.environment = Environment(fileSystem: store.disk, clock: store.clock)
          #expect(try Log.open(at: "/copy", options: options).openReport.commitCount == 12)
        }
      }
      number += 1
    }
    #expect(unconfirmedCount == 1)
  }

  @Test func `a reset whose kept copy is not confirmed is not done, and the copy stands`() throws {
    let store = DamagedLog()
    try store.append(0..<12)
    let faulty = FaultyFileSystem(store.disk)
    let opened = try store.open(on: faulty)
    // The sync of the directory right behind the rename to the copy's name.
    let sawRename = Lock(false)
    faulty.setScript { call in
      if call.operation == .rename, call.path.contains("kept-") { sawRename.withLock { $0 = true } }
      return call.operation == .syncDirectory && sawRename.withLock { $0 } ? .errno(Errno(5)) : nil
    }
    do throws(LogError) {
      try opened.log.reset(keepCopy: true)
      Issue.record("the reset went on")
    } catch {
      guard case .copyUnconfirmed(let path, _) = error else {
        Issue.record("\(error)")
        return
      }
      faulty.heal()
      #expect(store.disk.image.names(in: path).contains("META"))
      #expect(opened.log.status.epoch == 0)
      try opened.log.append([[1]])
    }
  }
}
