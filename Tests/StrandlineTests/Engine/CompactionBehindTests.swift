import Glibc
import StrandlineTestSupport
import Synchronization
import Testing

@testable import Strandline
@testable @_spi(Engine) import StrandlineLog

/// Writers that are faster than the disk: slowed, then stopped, and memory stays within its bound.
struct CompactionBehindTests {
  /// A disk on which layer files do not get on until they are let.
  private final class HeldLayers: InterceptingFileSystem {
    let base: any FileSystem = SimulatedDisk()
    let names = DescriptorNames()
    private let isHeld = Monitor(true)

    func letGo() { isHeld.change { $0 = false } }

    func perform<Result>(
      _ call: FileCall, writing bytes: UnsafeRawBufferPointer?, _ body: (FileCall) throws(Errno) -> Result
    ) throws(Errno) -> Result {
      if call.operation == .write, call.name.hasPrefix("layer-") { isHeld.wait { $0 ? nil : () } }
      return try body(call)
    }
  }

  private final class Notes: StoreObserver {
    let slowed = Atomic<Int>(0)
    let stalled = Atomic<Int>(0)

    func note(_ event: StoreEvent) {
      switch event {
      case .slowed: slowed.add(1, ordering: .relaxed)
      case .stalled: stalled.add(1, ordering: .relaxed)
      default: break
      }
    }
  }

  private static let schema = Schema(tables: [
    TableSchema("rows", key: [KeyColumn("id", .int)], columns: [ColumnSchema("payload", .bytes)])
  ])
  private static let layerByteCountMax = 256 << 10
  private static let payloadByteCount = 8 << 10

  private static func open(_ disk: HeldLayers, _ notes: Notes) throws -> Store {
    var options = StoreOptions()
    options.log.environment.fileSystem = disk
    options.memoryLayerByteCountMax = layerByteCountMax
    options.durability = .buffered
    options.observer = notes
    return try Store.open(at: "/store", schema: schema, options: options)
  }

  private static func put(_ id: Int64) -> (inout Transaction) throws(StoreError) -> Void {
    { (tx) throws(StoreError) in
      _ = try tx.put(
        ["id": .int(id), "payload": .bytes([UInt8](repeating: 1, count: payloadByteCount))], into: "rows")
    }
  }

  /// Whether a writer has come to a full layer and waits; nobody resets here.
  private static func hasStalledWriter(_ store: Store) -> Bool {
    store.engine.gate.isStalled && store.engine.waits.withLock { $0.waitingCount > 0 }
  }

  /// Two layers, and what the last commit and tables of a layer add.
  private static func check(_ store: Store) {
    let stack = store.engine.lane.withLock { $0.state.stack }
    #expect(stack.memory.count <= 2)
    for layer in stack.memory { #expect(layer.byteCount <= layerByteCountMax + payloadByteCount + (64 << 10)) }
  }

  @Test func `threads are slowed, then wait, and go on`() throws {
    let disk = HeldLayers()
    let notes = Notes()
    let store = try Self.open(disk, notes)
    let rowCount = Int64(400)
    withThreads(9) { thread in
      if thread == 8 {
        // Nobody gets by before the layer is let go.
        while !Self.hasStalledWriter(store) {
          Self.check(store)
          usleep(500)
        }
        Self.check(store)
        disk.letGo()
        return
      }
      for id in stride(from: Int64(thread), to: rowCount, by: 8) {
        do { try store.write(Self.put(id)) } catch { Issue.record("\(error)") }
      }
    }
    Self.check(store)
    #expect(try store.query("rows").count() == Int(rowCount))
    let waits = try store.statistics().waits
    #expect(waits.stalledCount > 0 && waits.stalledCount == UInt64(notes.stalled.load(ordering: .relaxed)))
    #expect(waits.slowedCount > 0 && waits.slowedCount == UInt64(notes.slowed.load(ordering: .relaxed)))
    #expect(waits.longestNanoseconds > 0 && waits.stalledNanoseconds >= waits.stalledCount)
    try store.close()
  }

  @Test func `tasks are slowed, then wait, and go on`() async throws {
    let disk = HeldLayers()
    let notes = Notes()
    let store = try Self.open(disk, notes)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in Int64(0)..<8 {
        group.addTask {
          for id in stride(from: task, to: 400, by: 8) { try await store.write(Self.put(id)) }
        }
      }
      while !Self.hasStalledWriter(store) { try await Task.sleep(for: .milliseconds(1)) }
      Self.check(store)
      disk.letGo()
      try await group.waitForAll()
    }
    Self.check(store)
    #expect(notes.slowed.load(ordering: .relaxed) > 0 && notes.stalled.load(ordering: .relaxed) > 0)
    #expect(try await store.read { try $0.query("rows").count() } == 400)
    try await store.close()
  }
}
