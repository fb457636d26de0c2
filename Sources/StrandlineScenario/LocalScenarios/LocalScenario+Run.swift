internal import StrandlineSync

extension LocalScenario: ScenarioContent {
  var sides: Set<ScenarioSide> { ScenarioKind.localScenario.sides }

  func run(on side: ScenarioSide) async throws(CaseFailure) {
    var host = LocalHost()
    var failure: CaseFailure?
    for (place, step) in steps.enumerated() where failure == nil {
      do throws(CaseFailure) { try await take(step, on: &host) } catch { failure = error.at(step: place + 1) }
    }
    await host.close()
    if let failure { throw failure }
  }

  private func take(_ step: Step, on host: inout LocalHost) async throws(CaseFailure) {
    let subject = step.operation.rawValue
    do {
      let answer: LocalAnswer
      do {
        answer = try await host.perform(step.operation, step.arguments)
      } catch let error as SyncError {
        let outcome = await CallOutcome { throw error }
        if !step.expectsError { return try outcome.expectSuccess(subject) }
        return try outcome.expectFailure(subject, code: step.expectedCode)
      }
      if step.expectsError { try CallOutcome.success.expectFailure(subject, code: step.expectedCode) }
      try answer.compare(with: step.arguments)
    } catch let failure as CaseFailure {
      throw failure
    } catch {
      throw CaseFailure(subject, "\(error)")
    }
  }
}
