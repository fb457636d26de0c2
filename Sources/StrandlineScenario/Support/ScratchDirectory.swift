internal import FoundationEssentials

/// A private directory of one case, in memory where the machine has such a place.
struct ScratchDirectory: Sendable {
  let path: String

  init() throws(CaseFailure) {
    let memory = "/dev/shm"
    let parent =
      FileManager.default.isWritableFile(atPath: memory) ? memory : FileManager.default.temporaryDirectory.path
    path = "\(parent)/strandline-scenario-\(UUID().uuidString.lowercased())"
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CaseFailure("a directory for the case", "\(error)")
    }
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }
}
