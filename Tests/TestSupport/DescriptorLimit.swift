internal import Glibc

/// How many files a process may have open. Tests run side by side, and all of them together need more than the 1,024 that a shell gives.
public enum DescriptorLimit {
  /// Raises the soft limit as far as the hard one lets it, once.
  public static func raise() { _ = raised }

  private static let raised: Void = {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < limit.rlim_max else {
      return
    }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }()
}
