/// One case of a file: what it is called, and what to do with it.
public struct ScenarioCase: Sendable {
  public var name: String
  /// The file.
  public var path: String
  /// Nil if the file is no JSON.
  public var kind: ScenarioKind?
  var content: any ScenarioContent
  /// What the file says; nil: nothing.
  var namedSides: Set<ScenarioSide>?

  /// The sides that the case is for.
  public var sides: Set<ScenarioSide> {
    // Of a transcript more is known by the file than by its answers.
    guard let namedSides else { return content.sides }
    return kind.map { namedSides.intersection($0.sides) } ?? namedSides
  }

  /// Runs the case against each of `sides` that it is for, the client first; neither sees the other.
  ///
  /// Every run has a client and a server of its own, without a file of theirs left afterwards.
  public func run(on sides: Set<ScenarioSide>) async -> CaseReport {
    var report = CaseReport(name: name, path: path, kind: kind)
    for side in sides.intersection(self.sides).sorted() {
      var failure: CaseFailure?
      do throws(CaseFailure) { try await content.run(on: side) } catch { failure = error }
      report.sides.append(SideReport(side: side, failure: failure))
    }
    return report
  }
}

/// What the kinds of cases have in common.
protocol ScenarioContent: Sendable {
  var sides: Set<ScenarioSide> { get }
  /// Returns if the side did all that the case says. Called for one of ``sides``.
  func run(on side: ScenarioSide) async throws(CaseFailure)
}

/// A case that says something this runner does not know, or says it in no form that it knows.
struct UndecodableCase: ScenarioContent {
  var defect: MessageDefect
  /// Those that a whole case of its kind is for.
  var sides: Set<ScenarioSide>

  func run(on side: ScenarioSide) async throws(CaseFailure) {
    throw CaseFailure("the case", "\(defect.path.isEmpty ? "" : "\(defect.path): ")\(defect.reason)")
  }
}
