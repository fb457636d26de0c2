import StrandlineLog
import Testing

/// Bugs are planted rarely, and sources change often: each patch must go on meaning something. `Tests/Mutants/run` plants them.
struct PlantedBugsTests {
  private let names: [String]

  init() throws {
    names = try PosixFileSystem().list(PlantedBug.directory).filter { $0.hasSuffix(".patch") }.sorted()
  }

  @Test func `every planted bug applies to the sources as they are`() throws {
    #expect(names.count >= 32)
    for name in names {
      let bug = try PlantedBug(named: name)
      #expect(!bug.hunks.isEmpty && bug.hunks.allSatisfy(\.changesSomething), "\(name)")
      for hunk in bug.hunks {
        let lines = try PlantedBug.text(of: "\(PlantedBug.root)/\(hunk.file)")
          .split(separator: "\n", omittingEmptySubsequences: false)
        let count = hunk.expected.count
        let isThere = lines.indices.dropLast(max(0, count - 1)).contains { lines[$0...].starts(with: hunk.expected) }
        #expect(isThere, "\(name) does not apply to \(hunk.file) any more: make it anew or remove it")
      }
    }
  }

  @Test func `every planted bug says what it is and names suites that are there`() throws {
    let suites = try ["StrandlineLogTests", "StrandlineSimulationTests"].flatMap {
      try Self.suites(below: "\(PlantedBug.root)/Tests/\($0)")
    }
    for name in names {
      let bug = try PlantedBug(named: name)
      #expect(!bug.explanation.isEmpty, "\(name)")
      #expect(!bug.suites.isEmpty, "\(name)")
      for suite in bug.suites {
        let suite = suite.split(separator: ".").last ?? ""
        #expect(suites.contains { $0.contains(suite) }, "\(name) names \(suite), which no suite is called")
      }
    }
    #expect(Set(names.map { $0.prefix(2) }).count == names.count, "numbers are used once")
  }

  /// Names of the files of tests, which are the names of the suites in them.
  private static func suites(below path: String) throws -> [String] {
    let fileSystem = PosixFileSystem()
    return try fileSystem.list(path).flatMap { name in
      let inner = "\(path)/\(name)"
      if try fileSystem.status(at: inner).kind == .directory { return try suites(below: inner) }
      return name.hasSuffix("Tests.swift") ? [name] : []
    }
  }
}
