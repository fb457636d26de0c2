import Glibc
import Testing

@testable import strandline

struct ChangelogLibraryTests {
  private static func changelog(_ package: String, _ count: Int) -> [UInt8] {
    Array(
      (1...count).reversed().map {
        "\(package) (\($0)) sid; urgency=low\n\n  * Change \($0).\n\n -- A <a@b>  \($0) Feb 2022 00:00:00 +0000\n"
      }.joined(separator: "\n").utf8)
  }

  @Test func `packed and plain changelogs are found and one bad file spoils nothing`() throws {
    let scratch = try ScratchDirectory()
    scratch.write(gzip(Self.changelog("alpha", 3)), to: "alpha/changelog.Debian.gz")
    scratch.write(gzip(Array("Version 7\n=========\n".utf8)), to: "alpha/changelog.gz")
    scratch.write(Self.changelog("beta", 2), to: "beta/changelog")
    scratch.write(gzip(Self.changelog("beta", 9)), to: "beta/changelog.html.gz")
    scratch.write(Array(gzip(Self.changelog("gamma", 5)).dropLast(20)), to: "gamma/changelog.Debian.gz")
    scratch.write(Array("oops".utf8), to: "delta/changelog.gz")
    scratch.write([], to: "delta/changelog")
    scratch.write(
      gzip([UInt8](repeating: 0x20, count: ChangelogLibrary.inflatedByteCountMax + 1)), to: "zeta/changelog.gz")
    mkdir(scratch.file("eta"), 0o700)
    mkdir(scratch.file("eta/changelog"), 0o700)
    mkfifo(scratch.file("eta/changelog.gz"), 0o600)
    symlink("alpha", scratch.file("epsilon"))
    symlink("nowhere", scratch.file("beta/changelog.Debian.gz"))

    let library = ChangelogLibrary(directory: scratch.path)
    #expect(library.files.map(\.binaryPackage) == ["alpha", "beta", "delta"])
    #expect(library.entryCount == 5)
    #expect(library.files[0].entries.map(\.version) == ["3", "2", "1"])
    #expect(library.foreignCount == 1)
    #expect(
      library.failed.map(\.path)
        == [
          "beta/changelog.Debian.gz", "delta/changelog.gz", "eta/changelog", "eta/changelog.gz",
          "gamma/changelog.Debian.gz", "zeta/changelog.gz",
        ].map(scratch.file))
    #expect(library.failed[4].reason == "the gzip file is cut short")
    #expect(library.failed[5].reason == "unpacks to more than 64.0 MiB")
  }

  @Test func `a machine without documentation has an empty library`() {
    #expect(ChangelogLibrary(directory: "/nonexistent").entryCount == 0)
  }

  @Test func `dpkg's list stands in for changelogs`() throws {
    let scratch = try ScratchDirectory()
    scratch.write(
      Array(
        """
        Package: zlib1g
        Status: install ok installed
        Priority: required
        Maintainer: Mark Brown <broonie@debian.org>
        Architecture: amd64
        Version: 1:1.2.13
        Description: compression library - runtime
         zlib is a library
         Version: not this one

        Package: gone
        Status: deinstall ok config-files
        Version: 2

        nonsense

        Package: base-files
        Version: 12
        """.utf8), to: "status")
    scratch.write([], to: "info/zlib1g:amd64.list")
    let entries = InstalledPackages.entries(in: scratch.path)
    #expect(entries.map(\.package) == ["base-files", "zlib1g"])
    #expect(entries[1].version == "1:1.2.13")
    #expect(entries[1].maintainerName == "Mark Brown")
    #expect(entries[1].maintainerMail == "broonie@debian.org")
    #expect(entries[1].lines == ["compression library - runtime"])
    #expect(entries[1].date > 1_000_000_000_000)
    #expect(InstalledPackages.entries(in: "/nonexistent").isEmpty)
  }

  @Test func `the changelogs of this machine are read whatever they hold`() {
    let library = ChangelogLibrary()
    #expect(library.failed.allSatisfy { !$0.reason.isEmpty })
    for entry in library.files.flatMap(\.entries) {
      #expect(!entry.package.isEmpty && !entry.version.isEmpty, "\(entry)")
    }
  }
}
