import Testing

@testable import strandline

/// What the Markdown files say, compared with what is there.
struct DocumentationTests {
  @Test func `every Swift example in the documents is compiled, and every compiled one is in a document`() throws {
    let regions = try Repository.files(in: "Tests/StrandlineCommandTests/Documentation")
      .filter { $0.hasSuffix("Examples.swift") }.flatMap { try Self.regions(of: $0) }
    #expect(!regions.isEmpty)
    var unused = Set(regions)
    for document in try MarkdownFile.all() {
      for fence in document.fences where fence.language == "swift" {
        let lines = fence.lines.filter { !$0.isEmpty && !$0.hasPrefix("import ") }
        #expect(regions.contains(lines), "\(document):\(fence.lineNumber) is compiled by no …Examples.swift")
        unused.remove(lines)
      }
    }
    #expect(unused.isEmpty, "regions that no document shows: \(unused.map { $0.first ?? "" })")
  }

  @Test func `every fence names its language`() throws {
    for document in try MarkdownFile.all() {
      for fence in document.fences {
        #expect(["swift", "sh", "console", "text"].contains(fence.language), "\(document):\(fence.lineNumber)")
      }
    }
  }

  @Test func `links between documents lead somewhere`() throws {
    for document in try MarkdownFile.all() {
      let directory = document.path.split(separator: "/").dropLast().joined(separator: "/")
      for target in document.prose.flatMap(Self.linkTargets) where !target.contains(":") && !target.hasPrefix("#") {
        let file = String(target.prefix { $0 != "#" })
        #expect(Repository.exists(directory.isEmpty ? file : "\(directory)/\(file)"), "\(document): \(target)")
      }
    }
  }

  @Test func `every test suite that a document names is there`() throws {
    let suites = Set(
      try Repository.files(in: ".").filter { $0.hasSuffix(".swift") }.compactMap { file in
        file.split(separator: "/").last.map { String($0.dropLast(6)) }
      })
    for document in try MarkdownFile.all() {
      for word in document.prose.flatMap(Self.codeWords) where word.hasSuffix("Tests") {
        #expect(suites.contains(word), "\(document) names \(word)")
      }
    }
  }

  @Test func `the commands of the README are those of the continuous integration`() throws {
    let readme = try MarkdownFile("README.md")
    let setUp = try #require(readme.fences.first { $0.language == "sh" })
    #expect(setUp.lines.count == 2)
    #expect(setUp.lines[0].hasPrefix("apt-get update && apt-get install -y "))
    #expect(setUp.lines[0].hasSuffix(" && swift run -c release strandline tour"))
    #expect(setUp.lines[1].hasPrefix("swift test"))
  }

  /// The lines between `// example` and `// end` in a test source, without their common indentation and empty lines.
  private static func regions(of path: String) throws -> [[String]] {
    var regions: [[String]] = []
    var region: [String]?
    var indentation = 0
    for line in try Repository.lines(of: path) {
      let text = line.drop { $0 == " " }
      if text == "// example" {
        region = []
        indentation = line.count - text.count
      } else if text == "// end" {
        if let region { regions.append(region) }
        region = nil
      } else if !text.isEmpty {
        region?.append(String(line.dropFirst(min(indentation, line.count - text.count))))
      }
    }
    return regions
  }

  /// What stands in parentheses behind `](`.
  private static func linkTargets(_ line: String) -> [String] {
    line.split(separator: "](", omittingEmptySubsequences: false).dropFirst().map { String($0.prefix { $0 != ")" }) }
  }

  /// What stands between two backticks, one word each.
  private static func codeWords(_ line: String) -> [String] {
    let parts = line.split(separator: "`", omittingEmptySubsequences: false)
    return parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }.filter { !$0.contains(" ") }
  }
}
