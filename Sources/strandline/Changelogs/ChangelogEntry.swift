/// One upload of a Debian package, as its changelog tells it.
struct ChangelogEntry: Equatable, Sendable {
  /// Name of the source package.
  var package: String
  var version: String
  /// Where it was uploaded to: `unstable`, `bookworm-security`, …; seldom more than one.
  var distributions: [String]
  /// `low`, `medium`, `high`, …; nil where the heading does not say.
  var urgency: String?
  /// What changed, without the indentation that all lines share and without blank lines at both ends.
  var lines: [String]
  /// Numbers in the bug tracker that the text says are closed, in order and once each.
  var closedBugs: [Int]
  var maintainerName: String
  var maintainerMail: String
  /// Milliseconds since 1970.
  var date: Int64
}
