import StrandlineProtocol

/// The network as one process of a device sees it.
struct SimulatedRemote: Remote {
  unowned let world: World
  let device: Int
  let life: Int

  func pull(_ request: PullRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PullAnswer> {
    guard let device = world.device(device, life) else { throw Self.unreachable }
    return try await world.carry(request, context, from: device)
  }

  func push(_ request: PushRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PushAnswer> {
    guard let device = world.device(device, life) else { throw Self.unreachable }
    return try await world.carry(request, context, from: device)
  }

  static let unreachable = RemoteFailure(.unreachable(reason: "nothing came back", underlying: nil))
}
