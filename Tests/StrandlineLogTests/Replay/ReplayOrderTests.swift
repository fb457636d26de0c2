import Glibc
import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// Several threads decode; what the consumer sees is as from one. The consumer is slow, so that the threads get ahead of it.
struct ReplayOrderTests {
  private static let commitCount = 24

  /// One unit of replay for each commit.
  private func makeStore() throws -> DiskImage {
    let disk = SimulatedDisk()
    var options = LogOptions.crashTest(disk, seed: 1, clock: ManualClock())
    options.segmentByteCountMax = 64 << 20
    options.spaceAheadByteCount = 4 << 20
    var generator = SeededGenerator(seed: 1)
    let log = try Log.open(at: SmallStore.path, options: options)
    for _ in 0..<Self.commitCount { try log.append([generator.bytes(900 << 10)]) }
    return disk.image
  }

  private func replay(
    _ fileSystem: any FileSystem, atFirst: @escaping () -> Void = {}
  ) -> (sequences: [UInt64], error: (any Error)?) {
    var options = LogOptions.crashTest(fileSystem, seed: 2, clock: ManualClock())
    options.replayThreadCount = 4
    var sequences: [UInt64] = []
    do {
      _ = try Log.open(at: SmallStore.path, options: options) { batch in
        if sequences.isEmpty {
          usleep(300_000)
          atFirst()
        }
        sequences += batch.frames.map(\.sequence.rawValue)
      }
    } catch {
      return (sequences, error)
    }
    return (sequences, nil)
  }

  @Test func `batches come in log order and few of them wait`() throws {
    let recorder = RecordingFileSystem(SimulatedDisk(try makeStore()))
    var readCount = 0
    let replayed = replay(recorder) {
      for case .call(let call, _, _) in recorder.entries
      where call.operation == .read && call.byteCount ?? 0 >= 512 << 10 {
        readCount += 1
      }
    }
    #expect(replayed.error == nil)
    #expect(replayed.sequences == Array(1...UInt64(Self.commitCount)))
    // Two units a thread, and the reads that fill up the last ones.
    #expect((1...12).contains(readCount))
  }

  @Test func `everything in front of damage is handed out before it is reported`() throws {
    var image = try makeStore()
    let segment = try #require(SmallStore.segments(of: image).first)
    image.flip(segment, byte: 5 * (901 << 10), bit: 1)
    let replayed = replay(SimulatedDisk(image))
    #expect(replayed.error is LogError)
    #expect(replayed.sequences.count >= 4)
    #expect(replayed.sequences == Array(1...UInt64(max(1, replayed.sequences.count))))
  }
}
