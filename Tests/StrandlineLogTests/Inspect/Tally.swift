/// What came of the trials of one suite, for the line it prints.
struct Tally {
  private var outcomes: [Trial.Outcome: Int] = [:]
  private(set) var salvageCount = 0

  mutating func add(_ outcome: Trial.Outcome) { outcomes[outcome, default: 0] += 1 }
  mutating func addSalvage() { salvageCount += 1 }

  func line(_ suite: String, _ store: SampleStore) -> String {
    let parts = outcomes.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.value) \($0.key.rawValue)" }
    return "\(suite): \(store.name): \(outcomes.values.reduce(0, +)) cases: \(parts.joined(separator: ", ")); "
      + "\(salvageCount) salvaged"
  }
}
