import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// Stores whose frames, headers and roots say something else under right checksums: readers end, agree, and change nothing when they
/// refuse.
struct ForgedStoreTests {
  private static let caseCount = 1500 * SoakScale.factor

  @Test(arguments: SampleStore.all)
  func `forged frames, headers and roots stop nobody and fool open and verify alike`(_ store: SampleStore) throws {
    var generator = SeededGenerator(seed: 33)
    var refused = 0
    let segments = store.image.files(below: SampleStore.path).filter { $0.hasSuffix(".log") }
    let forges = try segments.map { try Forge(store.image, file: $0) }
    for number in 0..<Self.caseCount {
      var image = store.image
      let which = Int.random(in: 0..<segments.count, using: &generator)
      switch number % 8 {
      case 0: forgeRoot(&image, &generator)
      case 1: forgeHeader(&image, segments[which], &generator)
      default:
        var forge = forges[which]
        let frame = Int.random(in: 0..<forge.offsets.count, using: &generator)
        let range = forge.changeableRange(ofFrame: frame)
        let isHeader = number % 2 == 0
        forge.forge(frame: frame) { bytes, offset in
          let part =
            isHeader ? offset + 4..<offset + 48 : range.lowerBound + 64..<max(range.upperBound, range.lowerBound + 65)
          Forge.mutate(&bytes, part, &generator)
        }
        image.put(segments[which], forge.bytes)
      }
      if try check(image, "\(store.name), forged case \(number)") { refused += 1 }
    }
    print("forged stores: \(store.name): \(Self.caseCount) cases, \(refused) refused")
  }

  private func forgeRoot(_ image: inout DiskImage, _ generator: inout SeededGenerator) {
    image.edit("\(SampleStore.path)/META") { bytes in
      for slot in 0..<2 where Bool.random(using: &generator) {
        var part = Array(bytes[slot * 4096..<slot * 4096 + 4088])
        Forge.mutate(&part, 0..<300, &generator)
        bytes.replaceSubrange(slot * 4096..<(slot + 1) * 4096, with: Forge.tagged(part, seed: UInt64(slot)))
      }
    }
  }

  private func forgeHeader(_ image: inout DiskImage, _ file: String, _ generator: inout SeededGenerator) {
    image.edit(file) { bytes in
      var part = Array(bytes[0..<152])
      Forge.mutate(&part, 0..<152, &generator)
      let copy = Forge.tagged(part, seed: 0)
      for offset in SegmentHeader.copyOffsets { bytes.replaceSubrange(offset..<offset + 160, with: copy) }
    }
  }

  /// True if open refuses the store; it and verify must be of one mind, and salvage must end.
  private func check(_ image: DiskImage, _ name: String) throws -> Bool {
    let disk = SimulatedDisk(image)
    let hash = image.hash()
    var inspector = try StoreInspector(path: SampleStore.path, environment: SampleStore.environment(disk, seed: 5))
    inspector.searchesBits = false
    let report = try inspector.verify()
    var walk = try StoreWalk(inspector, try inspector.condition(), includesAll: true, listsFrames: true)
    while try walk.next() != nil {}
    let salvage = SimulatedDisk(image)
    do throws(LogError) {
      try Salvage.run(from: SampleStore.path, to: "/new", environment: SampleStore.environment(salvage, seed: 6))
    } catch {
      switch error {
      case .noStore, .corrupt, .unsupportedFormat: break
      default: try #require(Bool(false), "\(name): salvage threw \(error)")
      }
    }
    do throws(LogError) {
      _ = try Log.open(at: SampleStore.path, options: SampleStore.options(disk, seed: 7))
    } catch {
      try #require(report.refusal != nil, "\(name): open says \(error), verify does not")
      try #require(disk.image.hash() == hash, "\(name): a refused open changed the store")
      return true
    }
    try #require(report.refusal == nil, "\(name): verify says \(String(describing: report.refusal)), open works")
    return false
  }
}
