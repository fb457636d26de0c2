import Strandline
import StrandlineLog

/// Asks the tables, by an index and by a scan.
enum QueryChapter: TourChapter {
  static let title = "Ask it"

  static func run(_ tour: Tour) throws {
    let (store, opening) = try Stopwatch.time { try tour.openTables() }
    tour.figures.tables.openNanoseconds = opening
    let view = try store.view()
    guard let busiest = try view.query("packages").order(by: "uploads", ascending: false).first(),
      case .string(let name)? = busiest["name"], case .string(let maintainer)? = busiest["maintainer"],
      case .int(let uploads)? = busiest["uploads"]
    else { throw Failure(.finding, "NOT PROVED: no package has a name, a maintainer and a count") }
    try tour.narrator.say(
      "Opened again in \(HumanUnits.duration(nanoseconds: Double(opening))). The package with the most uploads is "
        + "\(TerminalText.escaped(name)), \(HumanUnits.count(Int(uploads))) of them. The latest entries of its maintainer:"
    )
    let query = view.query("entries").where("maintainer", .equals, .string(maintainer)).order(
      by: "date", ascending: false)
    for row in try query.limit(3).all() {
      let version = row["version"].map(ValueText.cell) ?? ""
      let date = row["date"].map(ValueText.cell) ?? ""
      try tour.narrator.quote("\(date.prefix(10))  \(row["package"].map(ValueText.cell) ?? "") \(version)")
    }
    try tour.narrator.say("How they are found, as `strandline query --explain` tells:")
    for line in try query.limit(3).explain().description.split(separator: "\n") {
      try tour.narrator.quote(String(line))
    }
    try proveAnswers(view, query, maintainer, tour)
    try store.close()
  }

  /// The same question without the index, row by row.
  private static func proveAnswers(_ view: ReadView, _ query: Query, _ maintainer: String, _ tour: Tour) throws {
    let (byIndex, indexTime) = try Stopwatch.time { try query.limit(20).all() }
    let (matching, scanTime) = try Stopwatch.time {
      var matching: [Row] = []
      let rows = try view.query("entries").rows()
      while let row = try rows.next() {
        if row["maintainer"] == .string(maintainer) { matching.append(row) }
      }
      return matching
    }
    func date(_ row: Row) -> Int64 { if case .timestamp(let date)? = row["date"] { date } else { .min } }
    let newest = matching.map(date).sorted(by: >).prefix(20)
    try TourProof.require(byIndex.map(date) == Array(newest), "the index and a scan find different rows")
    try TourProof.require(try query.count() == matching.count, "the index and a scan count differently")
    tour.figures.tables.indexNanoseconds = indexTime
    tour.figures.tables.scanNanoseconds = scanTime
    func time(_ nanoseconds: Int) -> String { HumanUnits.duration(nanoseconds: Double(nanoseconds)) }
    try tour.proved(
      "The index finds the newest twenty of \(HumanUnits.count(matching.count)) in \(time(indexTime)); reading every row takes "
        + "\(time(scanTime)) and finds the same.")
  }
}
