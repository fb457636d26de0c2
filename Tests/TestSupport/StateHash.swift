internal import CStrandline

/// One number for everything a log holds: XXH3-64, chained over (epoch, sequence, record) in order.
///
/// Two replays are the same if and only if their hashes are, whatever the sizes of the batches they came in.
public struct StateHash: Hashable, Sendable, CustomStringConvertible {
  public private(set) var value: UInt64 = 0

  public init() {}

  public mutating func add(epoch: UInt64, sequence: UInt64, record: UnsafeRawBufferPointer) {
    let place: [UInt64] = [epoch.littleEndian, sequence.littleEndian, UInt64(record.count).littleEndian]
    place.withUnsafeBytes { value = strandline_xxh3($0.baseAddress, $0.count, value) }
    value = strandline_xxh3(record.baseAddress, record.count, value)
  }

  public var description: String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
