/// What the tour writes: the uploads of Debian packages that this machine has in its documentation, oldest first.
struct TourHistory {
  var source: ChangelogUploads.Source
  var fileCount = 0
  /// Files that could not be read and entries that could not be understood.
  var skippedFileCount = 0
  var skippedEntryCount = 0
  /// Milliseconds since 1970 of the first and last entry.
  var dates: ClosedRange<Int64> = 0...0
  /// One a commit: the entries of one upload, which several packages on this machine may tell of, as JSON objects.
  var commits: [[[UInt8]]] = []

  var entryCount: Int { commits.reduce(0) { $0 + $1.count } }
  var byteCount: Int { commits.reduce(0) { $0 + $1.reduce(0) { $0 + $1.count } } }

  /// With fewer the chapters have nothing to show.
  static let commitCountMin = 50

  /// Commits are synced one by one, on disks of any kind: this many show what there is to show.
  static let commitCountMax = 4000

  /// Reads the machine's changelogs, or where there are too few its list of packages. Nil if that is too short as well.
  ///
  /// - Returns: the newest uploads as the log's history, and all of them for the tables.
  static func collect(
    changelogs: String = ChangelogLibrary.standardDirectory, packages: String = InstalledPackages.standardDirectory,
    progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) -> (history: TourHistory, uploads: ChangelogUploads)? {
    let library = ChangelogLibrary(directory: changelogs, progress: progress)
    var history = TourHistory(source: .changelogs)
    var uploads = ChangelogUploads(source: .changelogs)
    history.fileCount = library.files.count
    history.skippedFileCount = library.failed.count
    history.skippedEntryCount = library.malformedEntryCount
    history.take(library.files.flatMap { file in file.entries.map { (file.binaryPackage, $0) } })
    uploads.take(library.files.flatMap(\.entries))
    if history.commits.count < commitCountMin {
      let entries = InstalledPackages.entries(in: packages)
      history = TourHistory(source: .packageList, fileCount: 1)
      history.take(entries.map { ($0.package, $0) })
      uploads = ChangelogUploads(source: .packageList)
      uploads.take(entries)
    }
    guard history.commits.count >= commitCountMin else { return nil }
    history.commits.removeFirst(max(0, history.commits.count - commitCountMax))
    return (history, uploads)
  }

  /// Sorts by date and puts the entries of one upload together.
  mutating func take(_ entries: [(binaryPackage: String, entry: ChangelogEntry)]) {
    func key(_ item: (binaryPackage: String, entry: ChangelogEntry)) -> (Int64, String, String, String) {
      (item.entry.date, item.entry.package, item.entry.version, item.binaryPackage)
    }
    let sorted = entries.sorted { key($0) < key($1) }
    if let first = sorted.first, let last = sorted.last { dates = first.entry.date...last.entry.date }
    var previous: ChangelogEntry?
    for (binaryPackage, entry) in sorted {
      let isSameUpload =
        previous.map { $0.date == entry.date && $0.package == entry.package && $0.version == entry.version } ?? false
      if !isSameUpload { commits.append([]) }
      commits[commits.count - 1].append(Self.record(binaryPackage, entry))
      previous = entry
    }
  }

  private static func record(_ binaryPackage: String, _ entry: ChangelogEntry) -> [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.field("date", UTCTime.text(seconds: entry.date / 1000))
      json.field("package", binaryPackage)
      json.field("source", entry.package)
      json.field("version", entry.version)
      json.name("distributions")
      json.array { for distribution in entry.distributions { $0.value(distribution) } }
      json.field("urgency", entry.urgency)
      json.field("by", "\(entry.maintainerName) <\(entry.maintainerMail)>")
      json.name("closes")
      json.array { for bug in entry.closedBugs { $0.value(bug) } }
      json.name("changes")
      json.array { for line in entry.lines { $0.value(line) } }
    }
    return json.bytes
  }
}
