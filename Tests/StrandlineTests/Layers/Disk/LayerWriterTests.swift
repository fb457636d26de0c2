import Glibc
import StrandlineTestSupport
import Testing

@testable import Strandline
@testable @_spi(Engine) import StrandlineLog

/// Writing a layer leaves a whole layer under its name, or nothing.
struct LayerWriterTests {
  private static func model() -> LayerModel {
    var random = SeededGenerator(seed: 21)
    return LayerModel(LayerShape.uuids(900).make(&random))
  }

  @Test func `a layer that was finished survives power loss, and one that was not leaves a temporary name at most`()
    throws
  {
    let recorder = SimulatedDisk()
    let bench = LayerBench(recorder)
    try recorder.syncDirectory("/")
    let entry = try bench.write(Self.model())
    let after = LayerBench(recorder.powerLoss(keeping: .dropAll))
    #expect(try after.directory.fileSystem.list("/store") == [entry.fileName])
    #expect(try after.open(entry).verify().isEmpty)
  }

  @Test func `letting a writer go removes its file`() throws {
    let disk = SimulatedDisk()
    let bench = LayerBench(disk)
    for abandons in [true, false] {
      var writer = try LayerWriter(
        in: bench.directory, identifier: bench.identifier, environment: bench.environment(), keySeed: 1,
        options: LayerOptions(keyCountMax: 100, dictionary: .none))
      for version in Self.model().versions { try version.withView { try writer.append($0) } }
      if abandons { writer.abandon() } else { _ = consume writer }
      #expect(try disk.list("/store").isEmpty)
      #expect(disk.openDescriptorCount == 0)
    }
  }

  @Test(arguments: [EIO, ENOSPC, EDQUOT, EFBIG, EROFS])
  func `any call may fail: nothing is left and the next layer is written`(errno: Int32) throws {
    let calm = FaultyFileSystem(SimulatedDisk())
    _ = try LayerBench(calm).write(Self.model())
    for call in 1..<calm.callCount {
      let disk = SimulatedDisk()
      let faulty = FaultyFileSystem(disk)
      let bench = LayerBench(faulty)
      faulty.fail(call: call - 1, with: .errno(Errno(errno)))
      do {
        _ = try bench.write(Self.model())
        // A close that fails tells nothing; so only those may pass.
        #expect(faulty.struckCalls.allSatisfy { $0.operation == .close }, "call \(call)")
      } catch {
        switch error {
        case .outOfSpace(let failure):
          #expect(failure.errno.meansOutOfSpace)
          #expect(failure.operation != .syncDirectory)
        case .ioFailed(let failure):
          #expect(!failure.errno.meansOutOfSpace || failure.operation == .syncDirectory)
        default: Issue.record("call \(call): \(error)")
        }
        #expect(try disk.list("/store").isEmpty, "call \(call), \(faulty.struckCalls)")
      }
      #expect(disk.openDescriptorCount == 0)
      let entry = try bench.write(Self.model(), seed: 6)
      #expect(try bench.open(entry).verify().isEmpty)
    }
  }

  @Test func `short and interrupted writes change nothing`() throws {
    let calm = SimulatedDisk()
    let entry = try LayerBench(calm).write(Self.model())
    for fault in [Fault.short(.half), .short(.oneByte), .errno(Errno(EINTR))] {
      let disk = SimulatedDisk()
      let faulty = FaultyFileSystem(disk)
      let bench = LayerBench(faulty)
      faulty.fail([.write], with: fault, .times(3))
      #expect(try bench.write(Self.model()) == entry)
      #expect(disk.image.bytes(of: "/store/\(entry.fileName)") == calm.image.bytes(of: "/store/\(entry.fileName)"))
      faulty.fail([.read], with: fault, .times(3))
      #expect(try bench.open(entry).verify().isEmpty)
    }
  }

  @Test func `a full disk is a clean error`() throws {
    for room in stride(from: 0, to: 60_000, by: 7_000) {
      var image = DiskImage()
      image.byteCountMax = Int64(room)
      let disk = SimulatedDisk(image)
      let bench = LayerBench(disk)
      #expect {
        _ = try bench.write(Self.model())
      } throws: { error in
        guard case StoreError.outOfSpace = error else { return false }
        return true
      }
      #expect(try disk.list("/store").isEmpty)
    }
  }

  @Test func `versions out of order end the process before they are written`() async {
    await #expect(processExitsWith: .failure) {
      let bench = LayerBench()
      var writer = try LayerWriter(
        in: bench.directory, identifier: bench.identifier, environment: bench.environment(), keySeed: 1,
        options: LayerOptions(keyCountMax: 2, dictionary: .none))
      try OwnedVersion(StoreKey(LayerShape.row, [2]), 1, []).withView { try writer.append($0) }
      try OwnedVersion(StoreKey(LayerShape.row, [1]), 1, []).withView { try writer.append($0) }
    }
  }
}
