extension Transcript: ScenarioContent {
  func run(on side: ScenarioSide) async throws(CaseFailure) {
    switch side {
    case .client: try await TranscriptClient.run(self)
    case .server: try await TranscriptServer.run(self)
    }
  }
}
