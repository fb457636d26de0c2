import Glibc
import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// Signals that come all the time, and calls that move less than they were asked to.
struct InterruptionTests {
  @Test func `a signal every millisecond changes nothing`() throws {
    let directory = TemporaryDirectory()
    let path = directory.path
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in }
    // Without SA_RESTART: calls come back with EINTR.
    try #require(sigaction(SIGUSR2, &action, nil) == 0)
    let writer = Lock<pthread_t?>(nil)
    let outcome = Lock<Result<Void, any Error>?>(nil)
    withThreads(2) { index in
      if index == 0 {
        writer.withLock { $0 = pthread_self() }
        let result = Result { try Self.work(in: path) }
        writer.withLock { $0 = nil }
        outcome.withLock { $0 = result }
      } else {
        while outcome.withLock({ $0 == nil }) {
          writer.withLock { if let thread = $0 { pthread_kill(thread, SIGUSR2) } }
          usleep(1000)
        }
      }
    }
    try outcome.withLock { try $0?.get() }
    #expect(try Log.open(at: path + "/store").openReport.commitCount == 2)
    #expect(try Log.open(at: path + "/backup").openReport.commitCount == 200)
  }

  private static func work(in directory: String) throws {
    let log = try Log.open(at: directory + "/store")
    let record = [UInt8](repeating: 7, count: 64 << 10)
    for index in 0..<200 { try log.append([record], durability: index % 8 == 0 ? .synced : .buffered) }
    try log.backup(to: directory + "/backup")
    try log.reset(carrying: [[1]], keepCopy: true)
    try log.append([[2]])
    try log.close()
  }

  /// Linux moves 2 GiB - 4 KiB in one call, whatever it was asked for.
  @Test func `what is larger than one call can move is written and read in parts`() throws {
    let disk = Counting()
    let byteCount = (2 << 30) + 5
    let memory = try #require(
      mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))
    try #require(memory != MAP_FAILED)
    defer { munmap(memory, byteCount) }
    let file = FileDescriptor(3)
    try disk.writeAll(file, UnsafeRawBufferPointer(start: memory, count: byteCount), at: 7)
    #expect(disk.calls == [Part(offset: 7, byteCount: 0x7fff_f000), Part(offset: 0x7fff_f007, byteCount: 4101)])
    disk.forget()
    let read = try disk.readFully(file, into: UnsafeMutableRawBufferPointer(start: memory, count: byteCount), at: 9)
    #expect(read == byteCount)
    #expect(disk.calls == [Part(offset: 9, byteCount: 0x7fff_f000), Part(offset: 0x7fff_f009, byteCount: 4101)])
  }

  private struct Part: Hashable {
    var offset: Int64
    var byteCount: Int
  }

  /// Takes and gives everything and looks at nothing.
  private final class Counting: InterceptingFileSystem {
    let base: any FileSystem = SimulatedDisk()
    let names = DescriptorNames()
    private let parts = Lock<[Part]>([])

    var calls: [Part] { parts.withLock { $0 } }
    func forget() { parts.withLock { $0 = [] } }

    func perform<Result>(
      _ call: FileCall, writing bytes: UnsafeRawBufferPointer?, _ body: (FileCall) throws(Errno) -> Result
    ) throws(Errno) -> Result { try body(call) }

    func write(_ file: FileDescriptor, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
      parts.withLock { $0.append(Part(offset: offset, byteCount: bytes.count)) }
      return bytes.count
    }

    func read(_ file: FileDescriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int
    {
      parts.withLock { $0.append(Part(offset: offset, byteCount: buffer.count)) }
      return buffer.count
    }
  }
}
