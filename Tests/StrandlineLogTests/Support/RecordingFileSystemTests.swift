import Glibc
import StrandlineLog
import StrandlineTestSupport
import Testing

struct RecordingFileSystemTests {
  @Test func `the trace lists calls, answers and marks in order`() throws {
    let recorder = RecordingFileSystem(SimulatedDisk(), keepsBytes: true)
    let file = try recorder.open("/a.tmp", .create)
    try recorder.put(file, [1, 2], at: 4)
    try recorder.rename("/a.tmp", to: "/a", replacing: true)
    recorder.mark("ack 1")
    try recorder.syncData(file)
    try recorder.truncate(file, to: 3)
    #expect(throws: Errno(ENOENT)) { try recorder.unlink("/b") }
    try recorder.close(file)
    #expect(
      recorder.trace() == """
        create /a.tmp = ok
        write /a.tmp @4 +2 = 2
        rename /a.tmp -> /a = ok
        -- ack 1
        syncData /a = ok
        truncate /a @3 = ok
        unlink /b = No such file or directory (errno 2)
        close /a = ok
        """)
    #expect(recorder.trace(last: 1) == "close /a = ok")
    guard case .call(_, .count(2), let written) = recorder.entries[1] else {
      Issue.record("no write in the trace")
      return
    }
    #expect(written == [1, 2])
  }

  @Test func `an observer sees the disk before and after each call`() throws {
    let disk = SimulatedDisk()
    let seen = Images()
    let recorder = RecordingFileSystem(disk) { call, moment in seen.add(call.number, moment, disk.image) }
    try recorder.make("/a", [1])
    #expect(seen.list.map(\.number) == [0, 0, 1, 1, 2, 2])
    #expect(seen.list.map { $0.image.names(in: "/").count } == [0, 1, 1, 1, 1, 1])
    #expect(seen.list.map { $0.image.bytes(of: "/a") } == [nil, [], [], [1], [1], [1]])
  }

  /// Written by one thread only.
  private final class Images: @unchecked Sendable {
    var list: [(number: Int, moment: RecordingFileSystem.Moment, image: DiskImage)] = []
    func add(_ number: Int, _ moment: RecordingFileSystem.Moment, _ image: DiskImage) {
      list.append((number, moment, image))
    }
  }
}
