import Strandline

/// `--history KEEP`: what compaction keeps of the past. A store does not remember it; each writer says it.
///
/// Whoever only passes by must not drop what a service wants to keep: commands keep all unless told otherwise, but for `compact`.
enum HistoryOption {
  static func option(default word: String) -> CommandSpecification.Option {
    .init(
      "--history", "KEEP",
      summary:
        "Past that compaction keeps: none, all, a number of commits, 90s, 12h, 7d, 64MiB of log (default \(word)).")
  }

  private static let seconds: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]

  static func value(_ arguments: Arguments, default word: String) throws(UsageError) -> StoreOptions.History {
    let text = arguments.value("--history") ?? word
    guard let history = parsed(text) else {
      throw .invalidValue(
        option: "--history", value: text, expected: "none, all, a number of commits, a time as 12h, or a size as 64MiB")
    }
    return history
  }

  static func parsed(_ text: String) -> StoreOptions.History? {
    if text == "none" { return StoreOptions.History.none }
    if text == "all" { return .commits(.max) }
    if let count = UInt64(text) { return count > 0 ? .commits(count) : nil }
    if let byteCount = ByteCountText.parsed(text) { return byteCount < 1 << 20 ? nil : .bytes(byteCount) }
    guard let unit = text.last, let length = seconds[unit], let count = Int64(text.dropLast()), count > 0,
      count < 1_000_000_000
    else { return nil }
    return .age(.seconds(count * length))
  }
}
