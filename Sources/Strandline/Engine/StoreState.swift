/// Layers and tables as of one moment. Immutable, shared by everybody who looks at that moment.
final class StoreState: Sendable {
  let stack: LayerStack
  let tables: Tables

  init(stack: LayerStack, tables: Tables) {
    self.stack = stack
    self.tables = tables
  }

  func with(_ stack: LayerStack) -> StoreState { StoreState(stack: stack, tables: tables) }
  func with(_ tables: Tables) -> StoreState { StoreState(stack: stack, tables: tables) }
}

/// A state and the last commit that is seen in it.
struct Snapshot: Sendable {
  var state: StoreState
  var sequence: UInt64

  func visible(in range: KeyRange, reverse: Bool = false) -> VisibleCursor {
    state.stack.visible(in: range, at: sequence, reverse: reverse)
  }

  func find(_ key: KeyView, into buffer: inout ValueBuffer) throws(StoreError) -> Finding {
    try state.stack.find(key, at: sequence, into: &buffer)
  }
}
