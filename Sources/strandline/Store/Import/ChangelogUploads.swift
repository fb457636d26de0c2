/// Changelog entries as uploads in the order of their dates.
struct ChangelogUploads {
  /// All uploads of one moment: they become one commit.
  struct Moment {
    /// Milliseconds since 1970.
    var date: Int64
    var entries: [ChangelogEntry]
  }

  enum Source: String {
    case changelogs
    /// dpkg's list of installed packages, where there are no changelogs.
    case packageList
  }

  var source: Source
  var moments: [Moment] = []
  var fileCount = 0
  /// Files that could not be read and entries that could not be understood.
  var skippedCount = 0

  var entryCount: Int { moments.reduce(0) { $0 + $1.entries.count } }

  /// Reads the changelogs below `directory`, or where there are none the list of packages. Nil if that is not there either.
  static func collect(
    changelogs: String = ChangelogLibrary.standardDirectory, packages: String = InstalledPackages.standardDirectory,
    progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) -> ChangelogUploads? {
    let library = ChangelogLibrary(directory: changelogs, progress: progress)
    var uploads = ChangelogUploads(source: .changelogs)
    uploads.fileCount = library.files.count
    uploads.skippedCount = library.failed.count + library.malformedEntryCount
    uploads.take(library.files.flatMap(\.entries))
    if !uploads.moments.isEmpty { return uploads }
    uploads = ChangelogUploads(source: .packageList, fileCount: 1)
    uploads.take(InstalledPackages.entries(in: packages))
    return uploads.moments.isEmpty ? nil : uploads
  }

  /// Sorts by date. Of an upload that several packages tell of one is kept.
  mutating func take(_ entries: [ChangelogEntry]) {
    func key(_ entry: ChangelogEntry) -> (Int64, String, String) { (entry.date, entry.package, entry.version) }
    var previous: ChangelogEntry?
    for entry in entries.sorted(by: { key($0) < key($1) }) {
      if let previous, key(previous) == key(entry) { continue }
      previous = entry
      if moments.last?.date != entry.date { moments.append(Moment(date: entry.date, entries: [])) }
      moments[moments.count - 1].entries.append(entry)
    }
  }
}
