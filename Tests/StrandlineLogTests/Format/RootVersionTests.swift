import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// META of a newer minor version, written to by this one.
struct RootVersionTests {
  private let store = DamagedLog()
  private let added: [UInt8] = [0xA1, 0, 0xB2, 0xC3]
  /// The first and the last of the bytes that this version has no name for, and some between.
  private let places = [2224, 3000, 4084]

  @Test func `what a newer minor version put into META is kept by every write, and so is its number`() throws {
    try store.append(0..<10, closing: true)
    makeNewer("\(DamagedLog.path)/META")
    let opened = try store.open()
    #expect(opened.records == DamagedLog.records(0..<10))
    // Clears the flag of the clean close, rolls, resets in both slots, marks the close: every writer of META there is.
    for value in 10..<60 { try opened.log.append([DamagedLog.record(value)]) }
    try opened.log.reset(carrying: [[1]], keepCopy: true)
    try opened.log.append([[2]])
    try opened.log.backup(to: "/backup")
    try opened.log.close()
    let roots = store.disk.image.files(below: "/").filter { $0.hasSuffix("/META") }
    #expect(roots.count == 3, "the store, its kept copy, the backup: \(roots)")
    for root in roots { try expectNewer(root) }
    #expect(try store.open().records == [[1], [2]])
  }

  @Test func `a store of this version keeps its number and has nothing where newer versions may add`() throws {
    try store.append(0..<10, closing: true)
    let bytes = try #require(store.disk.image.bytes(of: "\(DamagedLog.path)/META"))
    for slot in 0..<2 {
      #expect(bytes[slot * 4096 + 10] == 0 && bytes[slot * 4096 + 11] == 0)
      #expect(bytes[slot * 4096 + 2224..<slot * 4096 + 4088].allSatisfy { $0 == 0 })
    }
  }

  private func makeNewer(_ root: String) {
    store.disk.edit { image in
      image.edit(root) { bytes in
        for slot in 0..<2 {
          var part = Array(bytes[slot * 4096..<slot * 4096 + 4088])
          part[10] = 7
          for place in places { part.replaceSubrange(place..<place + added.count, with: added) }
          bytes.replaceSubrange(slot * 4096..<(slot + 1) * 4096, with: Forge.tagged(part, seed: UInt64(slot)))
        }
      }
    }
  }

  private func expectNewer(_ root: String) throws {
    let bytes = try #require(store.disk.image.bytes(of: root))
    for slot in 0..<2 {
      #expect(bytes[slot * 4096 + 10] == 7, "\(root), slot \(slot)")
      for place in places {
        let start = slot * 4096 + place
        #expect(Array(bytes[start..<start + added.count]) == added, "\(root), slot \(slot), byte \(place)")
      }
    }
  }
}
