/// Versions and feature bits, as every file of a store carries them.
///
/// - A file of a higher major version is refused; a higher minor version is read.
/// - An unknown *incompatible* bit refuses the file, an unknown *read-only-compatible* bit allows reading, an unknown
///   *compatible* bit is ignored. A writer keeps the bits it finds and never raises them at open.
/// - Released numbers are never moved or reused.
enum FormatVersion {
  static let major: UInt16 = 1
  static let minor: UInt16 = 0

  static let knownIncompatibleBits: UInt64 = 0
  static let knownReadOnlyCompatibleBits: UInt64 = 0

  /// The lowest bit of `bits` that this version does not know, if any.
  static func firstUnknownBit(_ bits: UInt64, known: UInt64) -> Int? {
    let unknown = bits & ~known
    return unknown == 0 ? nil : unknown.trailingZeroBitCount
  }
}
