@_spi(Engine) import StrandlineLog
import StrandlineTestSupport

/// A small store in which an input of the fuzzer stands in the place of a part, with its checksums made right.
struct FuzzedStore {
  /// Bytes of the last segment: its header, and a page for frames. What an input has beyond that is not looked at.
  private static let segmentByteCount = 8192
  private static let path = "/store"
  private static let base = makeBase()

  private let image: DiskImage

  init(_ part: FuzzedPart.OfStore, _ input: [UInt8]) {
    var image = Self.base.image
    let rest = Array(input.prefix(Self.segmentByteCount - 4096))
    switch part {
    case .root: image.edit("\(Self.path)/META") { Self.replaceSlots(&$0, by: rest) }
    case .header: image.edit(Self.base.segment) { Self.replaceHeader(&$0, by: rest) }
    case .bytes: image.edit(Self.base.segment) { $0.replaceSubrange(4096..<4096 + rest.count, with: rest) }
    case .frames: image.edit(Self.base.segment) { Self.replaceFrames(&$0, by: rest) }
    }
    self.image = image
  }

  // MARK: - What is read

  func readEverything() {
    let disk = SimulatedDisk(image)
    let hash = image.hash()
    let isRefused = verifies(disk)
    precondition(disk.image.hash() == hash, "looking changed the store")
    salvage(SimulatedDisk(image))
    do throws(LogError) {
      let log = try Log.open(at: Self.path, options: Self.options(disk)) { batch in
        for frame in batch.frames { for record in batch.records(of: frame) { _ = record.first } }
      }
      precondition(!isRefused, "verify says that open refuses, and it did not")
      try log.append([[1, 2, 3]])
      try log.close()
    } catch {
      switch error {
      case .corrupt, .unsupportedFormat:
        precondition(isRefused, "open refuses (\(error)), verify does not say so")
        precondition(disk.image.hash() == hash, "a refused open changed the store")
      case .limitExceeded: break
      default: preconditionFailure("open: \(error)")
      }
    }
  }

  private func verifies(_ disk: SimulatedDisk) -> Bool {
    do {
      let inspector = try StoreInspector(path: Self.path, environment: Self.options(disk).environment)
      let report = try inspector.verify()
      var walk = try StoreWalk(inspector, try inspector.condition(), includesAll: true, listsFrames: true)
      while let element = try walk.next() {
        guard case .commit(let commit, _) = element, commit.state == .whole else { continue }
        try walk.readRecords(of: commit) { list in for record in list { _ = record.first } }
      }
      return report.refusal != nil
    } catch {
      preconditionFailure("verify: \(error)")
    }
  }

  private func salvage(_ disk: SimulatedDisk) {
    do throws(LogError) {
      try Salvage.run(from: Self.path, to: "/new", environment: Self.options(disk).environment)
    } catch {
      return
    }
    do throws(LogError) {
      var options = Self.options(disk)
      options.access = .readOnly
      let log = try Log.open(at: "/new", options: options)
      precondition(log.openReport.damage == nil, "a salvaged store is damaged")
    } catch {
      preconditionFailure("a salvaged store does not open: \(error)")
    }
  }

  // MARK: - How the input becomes a part

  private static func replaceSlots(_ bytes: inout [UInt8], by input: [UInt8]) {
    for slot in 0..<2 {
      let part = input.count > 400 ? Array(input[(slot * input.count / 2)..<((slot + 1) * input.count / 2)]) : input
      let start = slot * 4096
      let count = min(part.count, 4088)
      // Most of a slot is as it was: what an input says of the first fields is what counts.
      for index in 0..<count { bytes[start + index] ^= part[index] }
      put(tag(bytes[start..<start + 4088], seed: UInt64(slot)), in: &bytes, at: start + 4088)
    }
  }

  private static func replaceHeader(_ bytes: inout [UInt8], by input: [UInt8]) {
    for index in 0..<min(input.count, 152) { bytes[index] ^= input[index] }
    put(tag(bytes[0..<152], seed: 0), in: &bytes, at: 152)
    bytes.replaceSubrange(2048..<2208, with: bytes[0..<160])
  }

  /// The input is a row of frames without tags: each gets those that its place calls for.
  private static func replaceFrames(_ bytes: inout [UInt8], by input: [UInt8]) {
    let salt = base.header.salt
    var previous = base.header.predecessor.headTag
    var offset = 4096
    var rest = input[...]
    while rest.count >= 40 {
      let head = Array(rest.prefix(40))
      rest = rest.dropFirst(40)
      let lsn = base.header.baseLSN.rawValue &+ UInt64(offset)
      var frame: [UInt8] = [0xF5, 0x0D, 0x0A, 0x1A] + head[4..<40]
      // A stored length that the input can fill, most of the time.
      let length = head[0] == 0 ? Int(head[8]) | Int(head[9]) << 8 : Int(head[8])
      frame[8] = UInt8(truncatingIfNeeded: length)
      frame[9] = UInt8(truncatingIfNeeded: length >> 8)
      if head[0] != 0 { (frame[10], frame[11]) = (0, 0) }
      let payload = Array(rest.prefix(length))
      rest = rest.dropFirst(payload.count)
      let padded = payload + [UInt8](repeating: 0, count: (8 - payload.count % 8) % 8)
      frame += [UInt8](repeating: 0, count: 24)
      put(previous, in: &frame, at: 40)
      put(tag(padded[...], seed: salt ^ lsn), in: &frame, at: 48)
      previous = tag(frame[0..<56], seed: salt &+ lsn)
      put(previous, in: &frame, at: 56)
      frame += padded
      guard offset + frame.count <= bytes.count else { return }
      bytes.replaceSubrange(offset..<offset + frame.count, with: frame)
      offset += frame.count
    }
  }

  private static func tag(_ bytes: ArraySlice<UInt8>, seed: UInt64) -> UInt64 {
    bytes.withUnsafeBytes { fuzzTag($0, seed: seed) }
  }

  private static func put(_ value: UInt64, in bytes: inout [UInt8], at offset: Int) {
    for index in 0..<8 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(index * 8)) }
  }

  // MARK: - The store

  private struct Base {
    var image: DiskImage
    var segment: String
    var header: SegmentHeader
  }

  private static func options(_ disk: SimulatedDisk) -> LogOptions {
    var options = LogOptions()
    options.helpers = .callerRuns
    options.segmentByteCountMax = 4096
    options.spaceAheadByteCount = 64 << 10
    options.replayThreadCount = 1
    options.environment = Environment(fileSystem: disk, clock: ManualClock(), randomBits: { .random(in: 1 ... .max) })
    return options
  }

  /// Two segments; the second one is what the inputs replace.
  private static func makeBase() -> Base {
    do {
      let disk = SimulatedDisk()
      let log = try Log.open(at: path, options: options(disk))
      for value in 0..<24 { try log.append([[UInt8](repeating: UInt8(value), count: 200)]) }
      var image = disk.image
      let inspector = try StoreInspector(path: path, environment: options(SimulatedDisk(image)).environment)
      guard let active = try inspector.survey().active, let header = active.header else {
        preconditionFailure("the sample has no last segment")
      }
      // Less space ahead than a writer makes: all of it is searched for promises, by everything that reads the store.
      image.edit(active.path) { $0.removeSubrange(segmentByteCount...) }
      return Base(image: image, segment: active.path, header: header)
    } catch {
      preconditionFailure("the sample cannot be made: \(error)")
    }
  }
}
