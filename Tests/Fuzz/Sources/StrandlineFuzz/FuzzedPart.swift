import Glibc

/// What an input is read as. Its first byte says which part of it.
enum FuzzedPart {
  case store(OfStore)
  case decoder(OfDecoder)

  /// A part of a store that is then verified, salvaged and opened.
  enum OfStore: UInt8, CaseIterable {
    case root, header, bytes, frames
  }

  /// One decoder alone, which costs a fraction of a store: whoever refuses one looks for the bit that explains it.
  enum OfDecoder: UInt8, CaseIterable {
    case root, header, frame, block
  }

  /// A run is of the one or of the other: what is new in stores would take all the time of a run that has both.
  private static let readsStores = getenv("STRANDLINE_FUZZ_STORES") != nil

  init(_ byte: UInt8) {
    let number = Int(byte % 4)
    self = Self.readsStores ? .store(OfStore.allCases[number]) : .decoder(OfDecoder.allCases[number])
  }
}
