/// The numbers of the chapters on sync.
struct TourSyncFigures {
  var rowCount = 0
  /// The queue of one device, to the server; all rows from there to another.
  var pushNanoseconds = 0
  var pullNanoseconds = 0
  var resetNanoseconds = 0
  /// All rows again, behind the reset.
  var pullAgainNanoseconds = 0

  private func line(_ nanoseconds: Int) -> String {
    let rate = HumanUnits.rate(Double(rowCount) / (Double(max(nanoseconds, 1)) / 1e9), of: "rows")
    return "\(HumanUnits.duration(nanoseconds: Double(nanoseconds))), \(rate)"
  }

  var rows: [(name: String, value: String)] {
    [
      ("push of a queue", "\(HumanUnits.count(rowCount)) writes, \(line(pushNanoseconds))"),
      ("first pull", "\(HumanUnits.count(rowCount)) rows, \(line(pullNanoseconds))"),
      ("reset of a device", HumanUnits.duration(nanoseconds: Double(resetNanoseconds))),
    ]
  }

  func write(to json: inout JSONWriter) {
    json.field("rows", rowCount)
    json.field("pushNanoseconds", pushNanoseconds)
    json.field("pullNanoseconds", pullNanoseconds)
    json.field("resetNanoseconds", resetNanoseconds)
    json.field("pullAgainNanoseconds", pullAgainNanoseconds)
  }
}
