/// The gates of a pull that need nothing but the request and the configuration, in two runs: the comparison of histories comes between the
/// last of them and expiry, which both need the state.
struct PullChecks {
  let configuration: ServerConfiguration

  enum Verdict {
    case passed(CursorToken)
    case tooOld
  }

  func check(_ request: PullRequest) throws(ErrorAnswer) -> Verdict {
    if let limit = request.limit, limit < 1 {
      throw ErrorAnswer(code: .invalidParameter, message: "limit: \(limit) is below 1. Leave it out, or ask for more.")
    }
    let entryCountMax = configuration.limits.bucketEntryCountMax
    if request.buckets.count > entryCountMax {
      throw ErrorAnswer(
        code: .invalidParameter,
        message: "buckets: \(request.buckets.count) entries; at most \(entryCountMax) are taken")
    }
    guard let version = request.schemaVersion,
      version >= configuration.schemaVersionMin(of: request.buckets.lazy.map(\.table))
    else { return .tooOld }
    for (place, entry) in request.buckets.enumerated() {
      guard let column = configuration.table(entry.table)?.bucketColumn, entry.params[column] == nil else { continue }
      throw ErrorAnswer(
        code: .unscopedPull,
        message: "buckets[\(place)]: table \"\(entry.table)\" is pulled by its bucket column \"\(column)\", which "
          + "params do not name")
    }
    guard let cursor = CursorToken(request.cursor) else {
      throw ErrorAnswer(
        code: .invalidParameter, message: "cursor: \"\(request.cursor.prefix(80))\" is none. Begin again with \"0\".")
    }
    return .passed(cursor)
  }
}

extension CursorToken {
  /// What the transfer began from: expiry is judged by it, and continuation pages carry it.
  var origin: Int64 { start ?? high }

  /// The first number from `number` on that has not been delivered. Holes below the first high mark are few for honest senders and
  /// searched by halving for others.
  func firstUndelivered(from number: Int64) -> Int64? {
    if number > high { return number }
    var low = 0
    var end = holes.count
    while low < end {
      let middle = (low + end) / 2
      if holes[middle] < number { low = middle + 1 } else { end = middle }
    }
    if low < holes.count { return holes[low] }
    return high == .max ? nil : high + 1
  }
}
