import StrandlineTestSupport

/// Follows a trace from an empty disk on and tells where an order that durability rests on is broken.
///
/// Reads the files' bytes by the offsets of the format, with no help from the code that wrote them.
struct OrderOfCalls {
  /// How many times something was compared, so that a check that is never reached is noticed.
  var checkCount: Int { tally.checkCount }

  private struct Segment {
    var base: UInt64 = 0
    var ordinal: UInt64 = 0
    var hasHeader = false
    var isHeaderSynced = false
    /// 0 under a temporary name, 1 renamed, 2 with the directory synced.
    var nameState = 0
    var writtenEnd: UInt64 = 4096
    var syncedEnd: UInt64 = 4096
    /// Sequence numbers of frames no sync has covered.
    var unsyncedSequences: [UInt64] = []
    var hasFrames = false
    /// No sync has covered the last change of its size.
    var isCut = false
  }

  private struct Slot {
    var firstLive: UInt64 = 0
    var lastOrdinal: UInt64 = 0
    var layers: Set<UInt64> = []
    var isClean = false
    var isSynced = false
  }

  private var segments: [String: Segment] = [:]
  private var slots: [Int: Slot] = [:]
  /// What the medium has of META.
  private var syncedSlots: [Int: Slot] = [:]
  private var lastUnlinkedOrdinal: UInt64 = 0
  private let tally = Tally()

  private final class Tally {
    var checkCount = 0
    var violations: [String] = []
  }

  private func expect(_ isFine: Bool, _ text: @autoclosure () -> String) {
    tally.checkCount += 1
    if !isFine { tally.violations.append(text()) }
  }

  /// Everything in front of this has been covered by a sync.
  private var syncedLSN: UInt64 { segments.values.map { $0.base + $0.syncedEnd }.max() ?? 0 }

  mutating func take(_ entry: RecordingFileSystem.Entry) -> [String] {
    tally.violations = []
    switch entry {
    case .mark(let text): take(mark: text)
    case .call(let call, let outcome, let written):
      if !outcome.isFailure { take(call, written ?? []) }
    }
    return tally.violations
  }

  // MARK: Acknowledgements

  private mutating func take(mark: String) {
    let words = mark.split(separator: " ")
    guard words.count == 3, words[0] == "ack", let count = UInt64(words[2]) else { return }
    for (name, segment) in segments where segment.hasFrames {
      expect(
        slots.values.contains { $0.isSynced && $0.lastOrdinal >= segment.ordinal },
        "\(mark), and META does not know \(name)")
      if words[1] == "buffered" { continue }
      expect(
        !segment.unsyncedSequences.contains { $0 <= count },
        "\(mark) before a sync of \(name) covered \(segment.unsyncedSequences)")
    }
  }

  // MARK: Calls

  private mutating func take(_ call: FileCall, _ written: [UInt8]) {
    let store = CrashWorkload.storePath + "/"
    guard call.path == CrashWorkload.storePath || call.path.hasPrefix(store),
      !call.path.dropFirst(store.count).contains("/")
    else { return }
    let isTemporary = call.name.hasSuffix(".tmp")
    let name = isTemporary ? String(call.name.dropLast(4)) : call.name
    switch call.operation {
    case .write where name == "META": writeRoot(written, at: Int(call.offset ?? 0))
    case .write where name.hasPrefix("seg-"): write(written, at: Int(call.offset ?? 0), name)
    case .sync, .syncData: sync(name)
    case .truncate where name.hasPrefix("seg-"):
      segments[name, default: Segment()].writtenEnd = min(
        segments[name, default: Segment()].writtenEnd, UInt64(call.offset ?? 0))
      segments[name]?.isCut = true
    case .rename where name.hasPrefix("seg-"):
      expect(segments[name]?.isHeaderSynced == true, "\(name) got its name before its header was synced")
      segments[name]?.nameState = 1
    case .syncDirectory where call.path == CrashWorkload.storePath:
      for name in segments.keys where segments[name]?.nameState == 1 { segments[name]?.nameState = 2 }
    case .unlink where !isTemporary: unlink(name)
    default: break
    }
  }

  private mutating func sync(_ name: String) {
    if name == "META" {
      for number in slots.keys { slots[number]?.isSynced = true }
      syncedSlots = slots
    } else if var segment = segments[name] {
      segment.isHeaderSynced = segment.hasHeader
      segment.syncedEnd = segment.writtenEnd
      segment.unsyncedSequences = []
      segment.isCut = false
      segments[name] = segment
    }
  }

  // MARK: Segments

  private mutating func write(_ bytes: [UInt8], at offset: Int, _ name: String) {
    if offset == 0 {
      guard bytes.count >= 4096, bytes.u32(0) == 0x4C53_5389 || bytes.contains(where: { $0 != 0 }) else { return }
      writeHeader(bytes, name)
      return
    }
    var place = 0
    while place + 64 <= bytes.count {
      guard bytes.u32(place) == 0x1A0A_0DF5 else {
        place += 8
        continue
      }
      let byteCount = 64 + (Int(bytes.u32(place + 8)) + 7) & ~7
      writeFrame(
        name, sequence: bytes.u64(place + 16), durable: bytes.u64(place + 32), end: UInt64(offset + place + byteCount))
      place += byteCount
    }
  }

  private mutating func writeHeader(_ bytes: [UInt8], _ name: String) {
    var segment = segments[name, default: Segment()]
    segment.hasHeader = true
    segment.ordinal = bytes.u64(40)
    segment.base = bytes.u64(72)
    segments[name] = segment
    for (other, closed) in segments where closed.hasHeader && closed.ordinal < segment.ordinal {
      expect(
        closed.unsyncedSequences.isEmpty && closed.writtenEnd == closed.syncedEnd,
        "the header of \(name) was written before \(other) was synced")
    }
  }

  private mutating func writeFrame(_ name: String, sequence: UInt64, durable: UInt64, end: UInt64) {
    guard var segment = segments[name] else {
      expect(false, "a frame in \(name), which has no header")
      return
    }
    if !segment.hasFrames {
      expect(
        segment.isHeaderSynced && segment.nameState == 2, "a frame in \(name) before its header and name were synced")
    }
    expect(
      !syncedSlots.isEmpty
        && !syncedSlots.values.contains { $0.isClean && $0.lastOrdinal >= segment.ordinal && isNewest($0) },
      "a frame in \(name) while META says that the store was closed")
    expect(durable <= syncedLSN, "a frame at \(segment.base + end) says durable \(durable), synced is \(syncedLSN)")
    segment.hasFrames = true
    segment.unsyncedSequences.append(sequence)
    segment.writtenEnd = max(segment.writtenEnd, end)
    segments[name] = segment
  }

  // MARK: META

  private var revisions: [Int: UInt64] = [:]

  private func isNewest(_ slot: Slot) -> Bool {
    guard let newest = revisions.max(by: { $0.value < $1.value })?.key, let found = syncedSlots[newest] else {
      return false
    }
    return found.isClean == slot.isClean && found.lastOrdinal == slot.lastOrdinal
  }

  private mutating func writeRoot(_ bytes: [UInt8], at offset: Int) {
    for start in stride(from: 0, to: bytes.count, by: 4096) {
      let number = (offset + start) / 4096
      let other = slots[1 - number]
      // A new META is one file with both, not in use yet.
      if bytes.count == 4096 {
        expect(other?.isSynced ?? true, "slot \(number) was touched before the other was synced")
      }
      var slot = Slot()
      slot.firstLive = bytes.u64(start + 88)
      slot.lastOrdinal = bytes.u64(start + 96)
      slot.isClean = bytes[start + 152] == 1
      slot.layers = Set((0..<Int(bytes.u32(start + 168))).map { bytes.u64(start + 176 + 64 * $0) })
      slots[number] = slot
      revisions[number] = bytes.u64(start + 64)
      expect(
        bytes.u64(start + 120) <= syncedLSN, "META's anchor is \(bytes.u64(start + 120)), synced is \(syncedLSN)")
      expect(bytes.u64(start + 144) <= syncedLSN, "META says durable \(bytes.u64(start + 144)), synced is \(syncedLSN)")
      if slot.isClean {
        expect(segments.values.allSatisfy(\.unsyncedSequences.isEmpty), "META says clean before the log was synced")
        expect(!segments.values.contains(where: \.isCut), "META says clean before a cut was synced")
      }
    }
  }

  // MARK: Removal

  private mutating func unlink(_ name: String) {
    let fields = name.split(separator: "-")
    if name.hasPrefix("seg-"), let ordinal = UInt64(fields[1]) {
      expect(
        syncedSlots.count == 2 && syncedSlots.values.allSatisfy { $0.firstLive > ordinal },
        "\(name) was removed, and META begins at \(syncedSlots.values.map(\.firstLive))")
      expect(ordinal > lastUnlinkedOrdinal, "\(name) was removed after segment \(lastUnlinkedOrdinal)")
      lastUnlinkedOrdinal = ordinal
      segments[name] = nil
    } else if name.hasPrefix("layer-"), let id = fields.last.flatMap({ UInt64($0.dropLast(4), radix: 16) }) {
      expect(
        syncedSlots.count == 2 && syncedSlots.values.allSatisfy { !$0.layers.contains(id) },
        "\(name) was removed, and a slot of META names it")
    }
  }
}

/// What a writable open of a store that was not closed did, and in which order.
struct RecoveryOrder {
  private(set) var violations: [String] = []
  /// Calls that build on the tail.
  private(set) var actCount = 0

  init(_ image: DiskImage, _ entries: [RecordingFileSystem.Entry]) {
    let store = CrashWorkload.storePath
    guard let root = image.bytes(of: store + "/META"),
      let tail = image.names(in: store).last(where: { $0.hasPrefix("seg-") && $0.hasSuffix(".log") })
    else { return }
    // Behind a header alone there is nothing to read again.
    let holdsFrames = image.bytes(of: store + "/" + tail).map { $0.count > 4096 } ?? false
    let newest = root.u64(64) > root.u64(4096 + 64) ? 0 : 4096
    // Everything was synced before the flag was set.
    if root[newest + 152] == 1 { return }
    var (isTailSynced, isDirectorySynced, isDropped, isReadAgain, isRootSynced) = (false, false, false, false, false)
    for case .call(let call, let outcome, let written) in entries where !outcome.isFailure {
      switch call.operation {
      case .sync, .syncData:
        if call.name == tail { isTailSynced = true }
        if call.name == "META" { isRootSynced = true }
      case .syncDirectory: if call.path == store { isDirectorySynced = true }
      case .dropCache: if call.name == tail { isDropped = isTailSynced }
      case .read: if call.name == tail { isReadAgain = isDropped }
      case .write where call.path == store + "/META", .write where call.name == tail, .truncate, .unlink, .rename:
        if call.name.hasSuffix(".tmp") || call.name == "LOCK" || call.path.contains("/kept-") { continue }
        // Zeros and room change nothing that anyone reads.
        if let written, written.allSatisfy({ $0 == 0 }) { continue }
        actCount += 1
        if !(isTailSynced && isDirectorySynced && (isReadAgain || !holdsFrames) && isRootSynced) {
          violations.append("recovery did \(call) before the tail was settled")
        }
      default: break
      }
    }
  }
}

extension [UInt8] {
  fileprivate func u32(_ offset: Int) -> UInt32 {
    withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
  }

  fileprivate func u64(_ offset: Int) -> UInt64 {
    withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
  }
}
