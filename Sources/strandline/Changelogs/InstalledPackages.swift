import Glibc

/// The packages that dpkg has on its list, as entries: what is left to show on a machine without changelogs.
///
/// Containers often leave out the documentation of packages. The list has one entry a package, dated by the day its
/// files were installed.
enum InstalledPackages {
  static let standardDirectory = "/var/lib/dpkg"

  /// Oldest first; empty where there is no list.
  static func entries(in directory: String = standardDirectory) -> [ChangelogEntry] {
    guard let text = contents(of: "\(directory)/status") else { return [] }
    var entries: [ChangelogEntry] = []
    for paragraph in paragraphs(of: text) {
      guard let package = paragraph["package"], let version = paragraph["version"], !package.isEmpty,
        paragraph["status"]?.hasSuffix(" installed") != false
      else { continue }
      let (name, mail) = maintainer(paragraph["maintainer"] ?? "")
      let files = paragraph["architecture"].map { ["\(package):\($0).list"] } ?? []
      let date = (["\(package).list"] + files).lazy.compactMap { modified("\(directory)/info/\($0)") }.first
      entries.append(
        ChangelogEntry(
          package: package, version: version, distributions: ["installed"], urgency: paragraph["priority"],
          lines: paragraph["description"].map { [$0] } ?? [], closedBugs: [], maintainerName: name,
          maintainerMail: mail, date: date ?? 0))
    }
    return entries.sorted { ($0.date, $0.package) < ($1.date, $1.package) }
  }

  /// `Name: value` lines; names in lower case; of a value that goes on in further lines the first is kept.
  private static func paragraphs(of text: String) -> [[String: String]] {
    var paragraphs: [[String: String]] = []
    var current: [String: String] = [:]
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.isEmpty {
        if !current.isEmpty { paragraphs.append(current) }
        current = [:]
      } else if line.first != " ", line.first != "\t", let colon = line.firstIndex(of: ":") {
        current[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
      }
    }
    if !current.isEmpty { paragraphs.append(current) }
    return paragraphs
  }

  private static func maintainer(_ text: String) -> (name: String, mail: String) {
    guard let open = text.firstIndex(of: "<"), let close = text[open...].firstIndex(of: ">") else { return (text, "") }
    var name = text[..<open]
    while name.last == " " { name.removeLast() }
    return (String(name), String(text[text.index(after: open)..<close]))
  }

  private static func modified(_ path: String) -> Int64? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return Int64(status.st_mtim.tv_sec) * 1000
  }

  private static func contents(of path: String) -> String? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0, bytes.count < 256 << 20 {
      bytes.append(contentsOf: buffer[..<count])
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
