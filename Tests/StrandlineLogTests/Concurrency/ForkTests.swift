import Glibc
import StrandlineTestSupport
import Testing

@testable import StrandlineLog

/// A child that `fork` made without `exec` has a copy of the log and of its descriptors, and none of its threads.
struct ForkTests {
  @Test func `a child can do nothing to the log and leaves the parent's as it was`() async {
    await #expect(processExitsWith: .success) { try Self.childIsRefused() }
  }

  @Test func `a child that lives on does not keep a closed log locked`() async {
    await #expect(processExitsWith: .success) { try Self.lockIsGivenBack() }
  }

  private static func childIsRefused() throws {
    let directory = TemporaryDirectory()
    let path = directory.path + "/store"
    let log = try Log.open(at: path)
    try log.append([[1]])
    let child = fork()
    if child == 0 { _exit(answersWrongProcess(log) ? 0 : 1) }
    var status: Int32 = -1
    try #require(waitpid(child, &status, 0) == child)
    #expect(status == 0)
    // The child has let go of its copy; the lock is still the parent's.
    #expect(throws: LogError.self) { try Log.open(at: path) }
    try log.append([[2]])
    try log.close()
    let again = try Log.open(at: path)
    #expect(again.openReport.wasClosedCleanly)
    #expect(again.openReport.commitCount == 2)
    try again.close()
  }

  private static func lockIsGivenBack() throws {
    let directory = TemporaryDirectory()
    let path = directory.path + "/store"
    let log = try Log.open(at: path)
    try log.append([[1]])
    let child = fork()
    if child == 0 { while true { pause() } }
    defer {
      kill(child, SIGKILL)
      waitpid(child, nil, 0)
    }
    try log.close()
    let again = try Log.open(at: path)
    try again.append([[2]])
    try again.close()
  }

  private static func answersWrongProcess(_ log: Log) -> Bool {
    let calls: [() throws -> Void] = [
      { try log.append([[9]]) },
      { try log.append([[9]], durability: .buffered) },
      { try log.sync() },
      { _ = try log.read() },
      { try log.reset() },
      { try log.backup(to: log.path + "-copy") },
      { try log.close() },
    ]
    return calls.allSatisfy { call in
      do {
        try call()
        return false
      } catch {
        return error as? LogError == .wrongProcess
      }
    }
  }
}
