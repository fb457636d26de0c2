import Strandline

/// `--memory SIZE`: how much is gathered in memory before compaction writes it out.
enum MemoryOption {
  static let option = CommandSpecification.Option(
    "--memory", "SIZE", summary: "Memory that is filled before a layer is written: 64KiB to 16GiB (default 32MiB).")

  private static let range: ClosedRange<UInt64> = 64 << 10...16 << 30

  static func value(_ arguments: Arguments) throws(UsageError) -> Int {
    guard let text = arguments.value("--memory") else { return StoreOptions().memoryLayerByteCountMax }
    guard let byteCount = ByteCountText.parsed(text), range.contains(byteCount) else {
      throw .invalidValue(option: "--memory", value: text, expected: "a size from 64KiB to 16GiB")
    }
    return Int(byteCount)
  }
}
