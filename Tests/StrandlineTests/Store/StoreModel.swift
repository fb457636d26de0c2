import Strandline
import StrandlineLog

/// What a store ought to hold, as dully as can be: every commit's whole state, one after another.
struct StoreModel {
  typealias State = [String: [Int64: Row]]

  /// The state behind each commit that was tried; the first is the one in front of all.
  private(set) var states: [State] = [[:]]
  /// The last state that is certain to survive a kill, and the last that survives power loss.
  private(set) var acknowledged = 0
  private(set) var synced = 0

  var current: State { states[acknowledged] }

  /// Notes a commit that is about to be tried.
  mutating func attempt(_ change: (inout State) -> Void) {
    var next = states[states.count - 1]
    change(&next)
    states.append(next)
  }

  /// The last attempt was answered.
  mutating func acknowledge(_ durability: Durability) {
    acknowledged = states.count - 1
    if durability == .synced { synced = acknowledged }
  }

  mutating func noteSynced() { synced = acknowledged }

  /// The last attempt was refused, and left nothing.
  mutating func refuse() { states.removeLast() }

  /// Which attempt's state this is, if it is one that may be found after a crash.
  func place(of state: State, afterPowerLoss: Bool) -> Int? {
    let first = afterPowerLoss ? synced : acknowledged
    return states[first...].lastIndex { $0.filter { !$0.value.isEmpty } == state.filter { !$0.value.isEmpty } }
  }
}
