import Strandline
import StrandlineServer

/// Who keeps a store that plain commands had better not write to: a write that goes past its keeper is one that nobody hears of.
enum StoreKeeper {
  case syncClient, syncServer

  /// Nil: an application's, or nobody's.
  init?(of store: Store) throws {
    let view = try store.view()
    let names = Set(view.tableNames)
    if names.contains("strandline.outbox") {
      self = .syncClient
      return
    }
    let server = EmbeddedServerStorage.schema.tables
    guard names.isSuperset(of: server.map(\.name)),
      try server.allSatisfy({ try view.schema(of: $0.name).key == $0.key })
    else { return nil }
    self = .syncServer
  }

  /// - Parameter command: of ours, as in `put`.
  /// - Throws: ``Failure`` with what to use instead; nothing was written.
  static func refuse(_ command: String, in store: Store) throws {
    switch try StoreKeeper(of: store) {
    case nil: return
    case .syncClient:
      throw Failure(
        .usage,
        "\(store.path) is a sync client's store: use `strandline sync \(command)`, which tells the server too. "
          + "Nothing was changed.")
    case .syncServer:
      throw Failure(
        .usage, "\(store.path) is a sync server's store: `strandline serve` alone writes to it. Nothing was changed.")
    }
  }
}
