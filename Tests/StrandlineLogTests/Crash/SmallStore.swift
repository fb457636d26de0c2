import StrandlineTestSupport

@testable @_spi(Engine) import StrandlineLog

/// A store on a simulated disk as the crash tests make it, and where its pieces lie.
enum SmallStore {
  static let path = CrashWorkload.storePath
  static let rootPath = path + "/" + RootSlot.fileName

  /// Segment files, lowest first.
  static func segments(of image: DiskImage) -> [String] {
    StoreListing(image.names(in: path)).segments.map { "\(path)/\($0)" }
  }

  /// A killed process's store: `count` commits that were acknowledged as synced, over several segments.
  static func make(commitCount count: Int, byteCount: Int = 1_500) throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    let log = try RecoveredLog.open(disk, seed: 1).log
    for value in 0..<count { try log.append([[UInt8](repeating: UInt8(value), count: byteCount)]) }
    return disk.kill()
  }
}
