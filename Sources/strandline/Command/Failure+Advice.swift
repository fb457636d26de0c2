import Strandline
import StrandlineLog

// The errors' own words tell a program what it can do next. Where that is nothing a shell can do, these do.
extension Failure {
  static func message(of error: LogError) -> String {
    guard case .locked(let path, let owner) = error else { return error.description }
    return inUse(path, owner)
  }

  static func message(of error: StoreError) -> String {
    guard case .locked(let path, let owner) = error else { return error.description }
    return inUse(path, owner)
  }

  private static func inUse(_ path: String, _ owner: LockOwner?) -> String {
    "\(inUseBy(path, owner)). Wait for its end, or stop it; commands that only read work beside it."
  }

  /// Who holds a store, without what to do about it.
  static func inUseBy(_ path: String, _ owner: LockOwner?) -> String {
    "\(path): in use by " + (owner.map { "process \($0.processID) on \($0.host)" } ?? "another process")
  }
}
