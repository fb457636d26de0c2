/// What a server offers, to whom, and within which limits. Checked when the server is made.
public struct ServerConfiguration: Sendable {
  /// By name. Names are compared byte by byte.
  public var tables: [String: ServerTable]
  public var limits: ServerLimits
  /// Default 30 days.
  public var tombstoneRetention: Duration
  /// How long a mutation id is answered with its verdict. Default 90 days; never shorter than tombstones are kept.
  public var verdictRetention: Duration
  /// Whether a push has to be atomic. Default no.
  public var demandsAtomicPushes: Bool
  /// Whether client ids are bound to the user who used them first. Default no. Costs a commit for a pull now and then.
  public var registersClients: Bool
  /// Roles that may call; nil: every role.
  public var allowedRoles: Set<String>?
  /// Whether no client may recover unsynced changes over a client reset.
  public var forbidsRecovery: Bool

  public init(
    tables: [String: ServerTable], limits: ServerLimits = ServerLimits(), tombstoneRetention: Duration = .days(30),
    verdictRetention: Duration = .days(90), demandsAtomicPushes: Bool = false, registersClients: Bool = false,
    allowedRoles: Set<String>? = nil, forbidsRecovery: Bool = false
  ) {
    self.tables = tables
    self.limits = limits
    self.tombstoneRetention = tombstoneRetention
    self.verdictRetention = verdictRetention
    self.demandsAtomicPushes = demandsAtomicPushes
    self.registersClients = registersClients
    self.allowedRoles = allowedRoles
    self.forbidsRecovery = forbidsRecovery
  }
}

/// What one request may ask for, and how large a row may be.
public struct ServerLimits: Hashable, Sendable {
  /// Entries of a page when the request names no limit. Default 500, at least 1.
  public var pageEntryCount = 500
  /// Candidates that one page looks at. Default 5,000, at least 1. More means longer requests.
  public var pullScanCountMax = 5000
  /// Bucket entries of a pull. Default 64, at least 1.
  public var bucketEntryCountMax = 64
  /// Mutations of a push. Default 1,000, at least 1.
  public var mutationCountMax = 1000
  /// Bytes of a row, about: texts, names and eight for every number. Default 1 MiB, at most 8 MiB. A row that would be larger is
  /// ``RejectionReason/constraint``.
  public var rowByteCountMax = 1 << 20
  /// Bytes of the rows in one answer, counted as those of a row. Default 8 MiB, at least 1. A page ends before it would be passed, though
  /// never without an entry; a push of several mutations whose verdicts would carry more is refused as a whole,
  /// ``StrandlineProtocol/TransportCode/batchTooLarge``. As JSON it is at most six times as much: keep that below the 64 MiB that clients
  /// take.
  public var answerByteCountMax = 8 << 20

  public init() {}
}

/// A configuration that contradicts itself.
public struct ServerConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
  public var reason: String

  public init(_ reason: String) { self.reason = reason }

  public var description: String { "the server's configuration is refused: \(reason)" }
}

extension Duration {
  /// Days of 24 hours.
  public static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }

  /// Rounded down; the largest number for what is longer.
  var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    return overflow ? .max : product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000).partialValue
  }
}

extension ServerConfiguration {
  /// Bytes of a table's name, zero bytes counted thrice.
  static let tableNameByteCountMax = 96

  /// The table of exactly that name.
  func table(_ name: String) -> ServerTable? {
    guard let index = tables.index(forKey: name), tables[index].key.isSame(as: name) else { return nil }
    return tables[index].value
  }

  func retention(of table: ServerTable) -> Duration { table.tombstoneRetention ?? tombstoneRetention }

  /// Of the tables named, or of all when none of them is known.
  func schemaVersionMin(of names: some Sequence<String>) -> Int64 {
    names.compactMap { table($0)?.schemaVersionMin }.max() ?? tables.values.map(\.schemaVersionMin).max() ?? 0
  }

  func checked() throws(ServerConfigurationError) -> ServerConfiguration {
    func require(_ isFine: Bool, _ reason: @autoclosure () -> String) throws(ServerConfigurationError) {
      guard isFine else { throw ServerConfigurationError(reason()) }
    }
    try require(limits.pageEntryCount >= 1, "a page needs at least one entry")
    try require(limits.pullScanCountMax >= 1, "a page has to look at one candidate at least")
    try require(limits.bucketEntryCountMax >= 1, "a pull needs at least one bucket entry")
    try require(limits.mutationCountMax >= 1, "a push needs at least one mutation")
    try require((1...8 << 20).contains(limits.rowByteCountMax), "rowByteCountMax must be 1 byte to 8 MiB")
    try require(limits.answerByteCountMax >= 1, "answerByteCountMax must be at least one byte")
    try require(tombstoneRetention >= .zero && verdictRetention >= .zero, "a retention cannot be negative")
    for (name, table) in tables {
      try require(
        (1...Self.tableNameByteCountMax).contains(name.storedByteCount),
        "the table name \"\(name)\" must have 1 to \(Self.tableNameByteCountMax) bytes")
      try require(
        !table.keyColumns.isEmpty && Set(table.keyColumns).count == table.keyColumns.count
          && table.keyColumns.allSatisfy(ColumnRules.isName), "the key of \(name) must be columns, each once")
      try require(
        table.keyTypes.map { $0.count == table.keyColumns.count } ?? true,
        "\(name) must have one key type for each key column")
      try require(
        [table.bucketColumn, table.softDeleteColumn].allSatisfy { $0.map(ColumnRules.isName) ?? true },
        "the bucket or soft-delete column of \(name) has no name that a column can have")
      try require((table.tombstoneRetention ?? .zero) >= .zero, "the retention of \(name) cannot be negative")
    }
    return self
  }
}
