/// What stands in a store's META, slot by slot.
@_spi(Engine) public struct RootInspection: Hashable, Sendable {
  @_spi(Engine) public struct Slot: Hashable, Sendable {
    public var number: Int
    public var root: RootSlot?
    /// Why the slot does not count.
    public var defect: RootSlot.Defect?
    /// The bit that explains the defect, byte counted from the start of META.
    public var singleBit: SingleBit?
    public var isZero: Bool
  }

  public var path: String
  /// nil: there is no META.
  public var byteCount: Int64?
  public var isFile: Bool
  public var slots: [Slot]
  /// The root that counts.
  public var root: RootSlot?
  /// Why none does, as open would say it; nil also where there is no META.
  public var error: LogError?

  /// Reads META; what is wrong with it is in the result.
  ///
  /// - Throws: ``LogError/ioFailed(_:)`` only.
  static func read(in directory: StoreDirectory, searchesBits: Bool) throws(LogError) -> RootInspection {
    let path = directory.path(of: RootSlot.fileName)
    var result = RootInspection(path: path, byteCount: nil, isFile: true, slots: [], root: nil, error: nil)
    let status = try directory.perform(.status, path) { () throws(Errno) in
      try directory.fileSystem.statusIfPresent(at: path)
    }
    guard let status else { return result }
    result.byteCount = status.byteCount
    result.isFile = status.kind == .file
    guard result.isFile else {
      result.error = RootFile.notAFile(path)
      return result
    }
    let file = try directory.perform(.open, path) { () throws(Errno) in
      try directory.fileSystem.openRetrying(path, .read)
    }
    defer { directory.fileSystem.closeQuietly(file) }
    let bytes = try directory.perform(.read, path) { () throws(Errno) in
      try directory.fileSystem.readBytes(file, at: 0, byteCount: RootSlot.fileByteCount)
    }
    result.slots = (0..<2).map { slot($0, in: bytes, searchesBits: searchesBits) }
    do throws(LogError) {
      // One place decides between the slots, for open and for this.
      result.root = try RootFile.read(file, in: directory).newest
    } catch {
      if case .ioFailed = error { throw error }
      result.error = error
    }
    return result
  }

  /// Whether META has stayed as it was.
  func isUnchanged(since earlier: RootInspection) -> Bool {
    byteCount == earlier.byteCount && isFile == earlier.isFile && slots.map(\.root) == earlier.slots.map(\.root)
      && slots.map(\.defect) == earlier.slots.map(\.defect)
  }

  private static func slot(_ number: Int, in bytes: [UInt8], searchesBits: Bool) -> Slot {
    bytes.withUnsafeBytes { buffer in
      let start = min(buffer.count, number * RootSlot.byteCount)
      let block = UnsafeRawBufferPointer(rebasing: buffer[start..<min(buffer.count, start + RootSlot.byteCount)])
      var slot = Slot(number: number, root: nil, defect: nil, singleBit: nil, isZero: block.isAllZero)
      do throws(RootSlot.Defect) {
        slot.root = try RootSlot(decoding: block, slotNumber: number)
      } catch {
        slot.defect = error
        if searchesBits, !slot.isZero, case .tagMismatch = error,
          var bit = SingleBit.explaining(rootSlot: block, number: number)
        {
          bit.byte += start
          slot.singleBit = bit
        }
      }
      return slot
    }
  }
}
