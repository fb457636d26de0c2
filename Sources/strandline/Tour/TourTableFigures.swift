/// The numbers of the chapters on tables.
struct TourTableFigures {
  var entryCount = 0
  var bugCount = 0
  var packageCount = 0
  var commitCount = 0
  var importNanoseconds = 0
  /// Opening the tables for the first time after the import, and after compaction.
  var openNanoseconds = 0
  var compactedOpenNanoseconds = 0
  /// The same question, answered by an index and by reading every row.
  var indexNanoseconds = 0
  var scanNanoseconds = 0
  var importedByteCount = 0
  var compactedByteCount = 0
  var compactNanoseconds = 0
  var resetNanoseconds = 0
  /// Bytes on disk that the held view kept.
  var pinnedByteCount = 0
  var emptiedByteCount = 0

  private static func time(_ nanoseconds: Int) -> String { HumanUnits.duration(nanoseconds: Double(nanoseconds)) }

  var rows: [(name: String, value: String)] {
    let seconds = Double(max(importNanoseconds, 1)) / 1e9
    return [
      (
        "tables",
        "\(HumanUnits.count(packageCount)) packages, \(HumanUnits.count(entryCount)) entries, \(HumanUnits.count(bugCount)) bugs"
      ),
      (
        "import",
        "\(Self.time(importNanoseconds)), \(HumanUnits.rate(Double(entryCount + bugCount) / seconds, of: "rows")), "
          + "\(HumanUnits.count(commitCount)) commits"
      ),
      ("a query", "\(Self.time(indexNanoseconds)) by index, \(Self.time(scanNanoseconds)) by a scan"),
      (
        "compaction",
        "\(Self.time(compactNanoseconds)), \(HumanUnits.bytes(importedByteCount)) to \(HumanUnits.bytes(compactedByteCount))"
      ),
      ("open", "\(Self.time(openNanoseconds)) before compaction, \(Self.time(compactedOpenNanoseconds)) after it"),
      ("reset of the tables", "\(Self.time(resetNanoseconds)), down to \(HumanUnits.bytes(emptiedByteCount))"),
    ]
  }

  func write(to json: inout JSONWriter) {
    json.field("packages", packageCount)
    json.field("entries", entryCount)
    json.field("bugs", bugCount)
    json.field("commits", commitCount)
    json.field("importNanoseconds", importNanoseconds)
    json.field("openNanoseconds", openNanoseconds)
    json.field("compactedOpenNanoseconds", compactedOpenNanoseconds)
    json.field("indexNanoseconds", indexNanoseconds)
    json.field("scanNanoseconds", scanNanoseconds)
    json.field("importedBytes", importedByteCount)
    json.field("compactedBytes", compactedByteCount)
    json.field("compactNanoseconds", compactNanoseconds)
    json.field("resetNanoseconds", resetNanoseconds)
    json.field("pinnedBytes", pinnedByteCount)
    json.field("emptiedBytes", emptiedByteCount)
  }
}
