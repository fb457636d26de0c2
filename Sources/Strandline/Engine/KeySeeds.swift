internal import CStrandline
internal import StrandlineLog

/// Seeds of the key hashes. Primary keys come from clients, so neither may be guessed from outside.
struct KeySeeds: Sendable {
  /// Of memory layers: drawn anew in each process.
  let memory: UInt64
  /// Of the filters in layers on disk: the same for the life of the store.
  let disk: UInt64

  init(memory: UInt64, identifier: StoreIdentifier) {
    self.memory = memory
    disk = withUnsafeBytes(of: (identifier.high.littleEndian, identifier.low.littleEndian)) {
      strandline_xxh3($0.baseAddress, $0.count, 0x6C61_7965_7220_6B65)
    }
  }
}
