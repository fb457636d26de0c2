import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// Files of small stores deleted, emptied, doubled, put back, replaced: each, and all pairs.
struct WholeFileTests {
  private enum Mishap: String, CaseIterable {
    case deleted, emptied, doubledAsNext, doubledAsOther, doubledAside, olderVersion, directory, fifo, link
  }

  private struct Case {
    var file: String
    var mishap: Mishap
  }

  private static let pairCount = 150

  @Test(arguments: SampleStore.all)
  func `whatever happens to whole files, nothing wrong is believed`(_ store: SampleStore) throws {
    var tally = Tally()
    let files = store.image.files(below: SampleStore.path)
    let cases = files.flatMap { file in Mishap.allCases.map { Case(file: file, mishap: $0) } }
    for single in cases { try run([single], store, &tally) }
    let step = SoakScale.stride(of: cases.count * cases.count / 2, running: Self.pairCount)
    var generator = SeededGenerator(seed: 7)
    var number = 0
    while number < cases.count * cases.count {
      let pair = [cases[number / cases.count], cases[number % cases.count]]
      number += step == 1 ? 1 : Int.random(in: 1...step * 4, using: &generator)
      // An older META with an older log is an older store, and nothing in it tells.
      guard pair[0].file < pair[1].file, !pair.allSatisfy({ $0.mishap == .olderVersion }) else { continue }
      try run(pair, store, &tally)
    }
    print(tally.line("whole files", store))
  }

  private func run(_ cases: [Case], _ store: SampleStore, _ tally: inout Tally) throws {
    var image = store.image
    for one in cases { apply(one, to: &image, store) }
    let damage = cases.map { "\($0.file) \($0.mishap.rawValue)" }.joined(separator: ", ")
    let trial = Trial(store: store, image: image, damage: damage)
    tally.add(try trial.check())
    try trial.checkSalvage()
    tally.addSalvage()
  }

  private func apply(_ one: Case, to image: inout DiskImage, _ store: SampleStore) {
    let bytes = image.bytes(of: one.file) ?? []
    switch one.mishap {
    case .deleted: image.remove(one.file)
    case .emptied: image.put(one.file, [])
    case .doubledAsNext: image.put(double(of: one.file, ordinalDistance: 1), bytes)
    case .doubledAsOther: image.put(double(of: one.file, ordinalDistance: 0), bytes)
    case .doubledAside: image.put(one.file + ".bak", bytes)
    case .olderVersion:
      guard let old = store.older.bytes(of: one.file) else { return image.remove(one.file) }
      image.put(one.file, old)
    case .directory: image.put(one.file, .directory)
    case .fifo: image.put(one.file, .fifo)
    case .link: image.put(one.file, .symbolicLink(to: "/etc/passwd"))
    }
  }

  /// A name like the file's own, of the same or the next number.
  private func double(of file: String, ordinalDistance: UInt64) -> String {
    let name = file.split(separator: "/").last.map(String.init) ?? ""
    guard let segment = SegmentFileName(name) else { return file + "-2" }
    let other = SegmentFileName(ordinal: segment.ordinal + ordinalDistance, id: segment.id ^ 1)
    return "\(SampleStore.path)/\(other)"
  }
}
