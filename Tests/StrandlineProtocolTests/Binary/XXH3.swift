import CStrandline

enum XXH3 {
  static func tag(_ bytes: [UInt8], seed: UInt64) -> UInt64 {
    bytes.withUnsafeBytes { strandline_xxh3($0.baseAddress, $0.count, seed) }
  }
}
