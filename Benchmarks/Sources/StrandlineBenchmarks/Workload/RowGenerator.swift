/// Makes the rows that every subject stores: the rows of a to-do app.
///
/// Row `index` in `version` is always the same bytes, so any part of the data can be made again, and made anywhere.
/// Keys are random version-4 UUIDs: rows in the order of their index come in random order of their keys.
struct RowGenerator: Sendable {
  /// No row is longer. What ``write(_:version:to:)`` may touch is ``scratchByteCount``.
  static let rowByteCountMax = 512
  static let scratchByteCount = rowByteCountMax + WordList.cellByteCount

  let seed: UInt64
  private let words: WordList

  init(seed: UInt64) {
    self.seed = seed
    words = WordList(seed: seed)
  }

  // A row. Little-endian, not aligned.
  //
  //  byte 0       2     18        26               50     66        74        82       83         84
  //       +-------+-----+---------+- - - - - - - - +------+---------+---------+--------+----------+
  //       | table | key | version | 6 field        | list | created | updated | status | priority |
  //       | u16   | UUID| u64     | versions u32   | UUID | ms u64  | ms u64  | u8     | u8       |
  //       +-------+-----+---------+- - - - - - - - +------+---------+---------+--------+----------+
  //  byte 84             85                       ...
  //       +--------------+- - - - -+-------------+- - - -+
  //       | title length | title   | note length | note  |    2 to 7 words, 4 to 16 words, each length one byte
  //       +--------------+- - - - -+-------------+- - - -+
  static let tableOffset = 0
  static let keyOffset = 2
  static let versionOffset = 18
  static let fieldVersionsOffset = 26
  static let listOffset = 50
  static let createdOffset = 66
  static let updatedOffset = 74
  static let statusOffset = 82
  static let priorityOffset = 83
  static let titleOffset = 84

  /// Writes row `index` at `row`, which has room for ``scratchByteCount`` bytes; returns its length.
  func write(_ index: Int, version: UInt32 = 0, to row: UnsafeMutableRawPointer) -> Int {
    let place = SplitMix64.mix(seed &+ UInt64(truncatingIfNeeded: index) &* 0xD6E8_FEB8_6659_FD93)
    var fixed = SplitMix64(state: place)
    let table = Self.table(fixed.next())
    row.storeBytes(of: table, toByteOffset: Self.tableOffset, as: UInt16.self)
    Self.writeUUID(&fixed, to: row + Self.keyOffset)
    // One of 4,096 lists: to a 64 KiB block of some 400 rows as good as random.
    var list = SplitMix64(state: SplitMix64.mix(seed ^ (fixed.next() % 4096)))
    Self.writeUUID(&list, to: row + Self.listOffset)
    let created: UInt64 = 1_700_000_000_000 + fixed.next() % 31_536_000_000
    row.storeBytes(of: created, toByteOffset: Self.createdOffset, as: UInt64.self)

    var random = SplitMix64(state: place ^ UInt64(version) &* 0xA076_1D64_78BD_642F &+ 1)
    let bits = random.next()
    let rowVersion = UInt64(truncatingIfNeeded: index) &* 8 &+ 1 &+ UInt64(version) << 32
    row.storeBytes(of: rowVersion, toByteOffset: Self.versionOffset, as: UInt64.self)
    for field in 0..<6 {
      // A field was written with the row or some commits later.
      let later = UInt32(truncatingIfNeeded: bits >> UInt64(field * 8)) & 0x7
      row.storeBytes(
        of: UInt32(truncatingIfNeeded: rowVersion) &+ later, toByteOffset: Self.fieldVersionsOffset + field * 4,
        as: UInt32.self)
    }
    row.storeBytes(of: created &+ random.next() % 2_592_000_000, toByteOffset: Self.updatedOffset, as: UInt64.self)
    row.storeBytes(of: UInt8(truncatingIfNeeded: bits >> 48) & 3, toByteOffset: Self.statusOffset, as: UInt8.self)
    row.storeBytes(of: UInt8(truncatingIfNeeded: bits >> 50) % 5, toByteOffset: Self.priorityOffset, as: UInt8.self)

    let counts = random.next()
    let titleWords = 2 + Int(truncatingIfNeeded: ((counts & 0xFFFF) * 6) >> 16)
    let noteWords = 4 + Int(truncatingIfNeeded: ((counts >> 16 & 0xFFFF) * 13) >> 16)
    let note = writeText(titleWords, &random, to: row + Self.titleOffset)
    return writeText(noteWords, &random, to: note) - row
  }

  /// Writes a record of 32 bytes whose key stands where a row's key stands; returns its length.
  func writeSmallRecord(_ index: Int, to record: UnsafeMutableRawPointer) -> Int {
    var random = SplitMix64(
      state: SplitMix64.mix(seed &+ UInt64(truncatingIfNeeded: index) &* 0xD6E8_FEB8_6659_FD93))
    record.storeBytes(of: Self.table(random.next()), toByteOffset: Self.tableOffset, as: UInt16.self)
    Self.writeUUID(&random, to: record + Self.keyOffset)
    record.storeBytes(of: random.next(), toByteOffset: 18, as: UInt64.self)
    record.storeBytes(of: random.next(), toByteOffset: 24, as: UInt64.self)
    return 32
  }

  /// Of eight tables the first holds two rows in five, the last one in thirty.
  private static func table(_ bits: UInt64) -> UInt16 {
    let ends: [8 of UInt16] = [26_214, 39_321, 47_185, 53_084, 57_671, 60_948, 63_351, 65_535]
    let pick = UInt16(truncatingIfNeeded: bits >> 48)
    var table = 0
    while pick > ends[table] { table += 1 }
    return UInt16(table)
  }

  private static func writeUUID(_ random: inout SplitMix64, to bytes: UnsafeMutableRawPointer) {
    let high = random.next() & 0xFF0F_FFFF_FFFF_FFFF | 0x0040_0000_0000_0000
    let low = random.next() & 0xFFFF_FFFF_FFFF_FF3F | 0x80
    bytes.storeBytes(of: high, as: UInt64.self)
    bytes.storeBytes(of: low, toByteOffset: 8, as: UInt64.self)
  }

  /// A length byte and `count` words with single spaces between them. Returns the end.
  private func writeText(
    _ count: Int, _ random: inout SplitMix64, to start: UnsafeMutableRawPointer
  ) -> UnsafeMutableRawPointer {
    var end = start + 1
    var bits: UInt64 = 0
    words.cells.withUnsafeBytes { cells in
      words.byteCounts.withUnsafeBufferPointer { byteCounts in
        words.picks.withUnsafeBufferPointer { picks in
          for word in 0..<count {
            if word % 4 == 0 { bits = random.next() }
            let pick = Int(picks[Int(truncatingIfNeeded: bits & 0x3FFF)])
            bits >>= 16
            end.copyMemory(
              from: cells.baseAddress! + pick * WordList.cellByteCount, byteCount: WordList.cellByteCount)
            end += Int(byteCounts[pick]) + 1
          }
        }
      }
    }
    end -= 1
    start.storeBytes(of: UInt8(end - start - 1), as: UInt8.self)
    return end
  }
}
