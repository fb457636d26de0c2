internal import CStrandline

/// XXH3-64, the log's only checksum. It guards against damage, not against an attacker.
enum Tag {
  static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    strandline_xxh3(bytes.baseAddress, bytes.count, seed)
  }

  static func of(_ bytes: [UInt8], seed: UInt64) -> UInt64 {
    bytes.withUnsafeBytes { of($0, seed: seed) }
  }

  /// Seed of a frame's body tag at `lsn` in a segment with `salt`.
  static func bodySeed(salt: UInt64, lsn: LSN) -> UInt64 { salt ^ lsn.rawValue }
  /// Seed of a frame's head tag. The two seeds differ, so neither tag can pass for the other.
  static func headSeed(salt: UInt64, lsn: LSN) -> UInt64 { salt &+ lsn.rawValue }

  /// Refuses to run with an XXH3 that is not the one the format means (it was settled with 0.8.0).
  static func checkImplementation() {
    precondition(strandline_xxh_version() >= 800, "xxHash 0.8.0 or newer is needed to build Strandline")
    let empty = strandline_xxh3(nil, 0, 0)
    precondition(empty == 0x2D06_8005_38D3_94C2, "XXH3-64 answers a known input wrongly")
  }
}
