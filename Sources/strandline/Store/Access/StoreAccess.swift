import Strandline
@_spi(Engine) import StrandlineLog

/// How the commands on tables open a store.
enum StoreAccess {
  static let positional = CommandSpecification.Positional(name: "STORE", summary: "Directory of the store.")
  static let table = CommandSpecification.Option("--table", "T", summary: "Name of the table.", isRequired: true)

  /// Opens for reading, beside a writer if there is one. Changes nothing.
  static func reading(_ path: String) throws -> Store {
    var options = StoreOptions()
    options.log.access = .readOnly
    options.compactsInBackground = false
    let store = try Store.open(at: path, options: options)
    // A read-only open delivers what verifies beside damage. Answers from half a store would be wrong ones.
    if let damage = store.openReport.log.damage { throw StoreError.corrupt(damage) }
    return store
  }

  /// Opens for writing.
  static func writing(
    _ path: String, makes: Bool, history: StoreOptions.History = .commits(.max), memoryByteCount: Int? = nil,
    observer: (any StoreObserver)? = nil, _ console: Console
  ) throws -> Store {
    if makes { try refuseForeignFiles(path) }
    var options = StoreOptions()
    options.log.createsIfMissing = makes
    options.history = history
    if let memoryByteCount { options.memoryLayerByteCountMax = memoryByteCount }
    options.observer = observer
    let store = try Store.open(at: path, options: options)
    noteOpening(store.openReport.log, console)
    return store
  }

  /// A new store wants a directory of its own: among somebody else's files the path is a slip.
  ///
  /// - Parameter ours: names of files that may lie there.
  static func refuseForeignFiles(_ path: String, except ours: [String] = []) throws(Failure) {
    // What cannot be looked at is refused by the open, in its own words.
    guard let survey = try? StoreInspector(path: path).survey(), survey.isEmpty,
      let name = survey.listing.unknown.first(where: { !ours.contains($0) })
    else { return }
    throw Failure(
      .ioFailure,
      "\(survey.path): no store here, but other files (\(name)). Name a new or an empty directory. Nothing was made.")
  }

  /// The view as of right behind a commit, or of now.
  static func view(of store: Store, at sequence: SequenceNumber?) throws -> ReadView {
    guard let sequence else { return try store.view() }
    let last = store.position.sequence
    guard sequence <= last else {
      throw Failure(.usage, "--at \(sequence): the last commit is \(last)")
    }
    return try store.view(at: sequence)
  }

  /// Opens for writing, runs `body`, and closes in order. An error of `body` says more than that of the close behind it.
  static func write<Result>(
    _ path: String, makes: Bool, history: StoreOptions.History = .commits(.max), memoryByteCount: Int? = nil,
    _ console: Console, _ body: (Store) throws -> Result
  ) throws -> Result {
    let store = try writing(path, makes: makes, history: history, memoryByteCount: memoryByteCount, console)
    let result: Result
    do {
      result = try body(store)
    } catch {
      try? store.close()
      throw error
    }
    try store.close()
    return result
  }

  /// As ``write(_:makes:history:memoryByteCount:_:_:)``, for work that a log without tables can have done as well.
  static func write<Result>(
    _ path: String, _ console: Console, _ body: (Store) throws -> Result, ofLogAlone: (Log) throws -> Result
  ) throws -> Result {
    do {
      return try write(path, makes: false, console, body)
    } catch StoreError.unsupportedFormat(_, .withoutTables) {
      var options = LogOptions()
      options.createsIfMissing = false
      let log = try Log.open(at: path, options: options)
      noteOpening(log.openReport, console)
      let result: Result
      do {
        result = try ofLogAlone(log)
      } catch {
        try? log.close()
        throw error
      }
      try log.close()
      return result
    }
  }

  /// Says what opening cut off, and what was damaged and made no difference.
  static func noteOpening(_ report: OpenReport, _ console: Console) {
    for warning in report.warnings {
      switch warning {
      case .rootSlotDamaged(let slot):
        console.note("META: slot \(slot) was damaged; the other one was used, and both are whole now")
      case .headerCopyDamaged(let file):
        console.note(
          "\(file): one copy of the segment's header is damaged; the other one is used. Salvage makes a whole copy")
      default: break
      }
    }
    guard let cut = report.cut else { return }
    console.note("\(cut.file): cut at byte \(cut.offset): a commit that a crash left unfinished, never acknowledged")
  }
}
