internal import CStrandline
@_spi(Engine) internal import StrandlineLog

/// Numbers of the layer file. Normative: Docs/Format.md, "Layer".
enum LayerFormat {
  static let major: UInt16 = 1
  static let minor: UInt16 = 0
  static let knownIncompatibleBits: UInt64 = 0

  /// The header's block; data blocks begin behind it.
  static let headerBlockByteCount = 4096
  /// Blocks of rows, not compressed: with a dictionary, and without.
  static let smallBlockByteCount = 4096
  static let largeBlockByteCount = 16384
  static let dictionaryByteCountMax = 32 << 10
  /// The filter is proved and read in pieces of this many bytes.
  static let filterPartitionByteCount = 64 << 10
  /// Bodies of one block: the largest record and room for its lengths.
  static let bodiesByteCountMax = StoreLimits.recordByteCountMax + 4096
  /// No block in the file is longer.
  static let storedBlockByteCountMax = bodiesByteCountMax + 4096

  /// The tag of bytes that stand at `offset` of a file with `salt`.
  @inline(__always)
  static func tag(_ bytes: UnsafeRawBufferPointer, salt: UInt64, at offset: Int) -> UInt64 {
    strandline_xxh3(bytes.baseAddress, bytes.count, salt ^ UInt64(truncatingIfNeeded: offset))
  }
}

/// Why bytes of a layer do not count. How it reads is for people; nobody matches on it.
enum LayerDefect: Error, Hashable, CustomStringConvertible {
  case cutShort(missing: Int)
  case wrongTag(stored: UInt64, computed: UInt64)
  case notALayer
  case unsupportedMajor(UInt16)
  case unknownIncompatibleBit(Int)
  case outOfRange(String)
  case notDecodable
  /// Whole by itself, but not what belongs here.
  case foreign(String)

  var description: String {
    switch self {
    case .cutShort(let missing): "\(missing) bytes too few"
    case .wrongTag(let stored, let computed): "tag \(hexadecimal(stored)), the bytes have \(hexadecimal(computed))"
    case .notALayer: "not a layer"
    case .unsupportedMajor(let version): "format version \(version)"
    case .unknownIncompatibleBit(let bit): "feature bit \(bit), which this version does not know"
    case .outOfRange(let field): "\(field) out of range"
    case .notDecodable: "bytes that cannot be decompressed"
    case .foreign(let what): what
    }
  }
}

/// Memory with one owner.
struct RawMemory: ~Copyable {
  let bytes: UnsafeMutableRawBufferPointer

  init(byteCount: Int, alignment: Int = 64) {
    bytes = .allocate(byteCount: max(byteCount, 1), alignment: alignment)
  }

  deinit { bytes.deallocate() }

  var start: UnsafeMutableRawPointer { bytes.baseAddress! }
}
