/// A rule that a run found broken.
struct SimulationFailure: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}

/// Fails the run unless the condition holds.
func demand(_ condition: Bool, _ rule: @autoclosure () -> String) throws(SimulationFailure) {
  if !condition { throw SimulationFailure(rule()) }
}
