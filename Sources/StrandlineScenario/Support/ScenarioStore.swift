internal import StrandlineLog

/// How the stores of a case are run: they hold little and go with the case.
enum ScenarioStore {
  static var options: StoreOptions {
    var options = StoreOptions()
    options.compactsInBackground = false
    options.log.helpers = .callerRuns
    options.log.spaceAheadByteCount = 64 << 10
    return options
  }
}
