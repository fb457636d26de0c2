import Glibc
import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

struct ResetVisibilityTests {
  private let directory = TemporaryDirectory()

  /// The reset leaves the only segment there is. Readers must find the new one, before and after a commit goes into it.
  @Test(arguments: [LogOptions.Helpers.callerRuns, .threads])
  func `the log is readable right after a reset that carried nothing`(helpers: LogOptions.Helpers) throws {
    var options = LogOptions()
    options.helpers = helpers
    let log = try Log.open(at: directory.path + "/store", options: options)
    try log.append([Array("void".utf8)])
    let first = log.status.firstLiveOrdinal
    try log.reset()
    // Threads finish it in the background.
    while log.status.firstLiveOrdinal == first { sched_yield() }
    #expect(log.status.firstLiveOrdinal == first + 1)
    #expect(log.status.lastOrdinal == first + 1)
    #expect(try log.read().next() == nil)

    let record = Array("alive".utf8)
    let position = try log.append([record])
    let reader = try log.read()
    let commit = try #require(try reader.next())
    #expect(commit.position == position)
    #expect(commit.records == [record])
    #expect(try reader.next() == nil)
    try log.close()
  }
}
