internal import Glibc

/// What the kernel has counted for this process.
enum ProcessUsage {
  /// Bytes that were handed to the device so far, by all threads; nil where the kernel does not count.
  static var writtenByteCount: Int? { field("write_bytes", in: "/proc/self/io").map { $0 } }

  static var residentByteCount: Int? { field("VmRSS", in: "/proc/self/status").map { $0 << 10 } }
  static var anonymousByteCount: Int? { field("RssAnon", in: "/proc/self/status").map { $0 << 10 } }
  static var peakResidentByteCount: Int? { field("VmHWM", in: "/proc/self/status").map { $0 << 10 } }

  private static func field(_ name: String, in path: String) -> Int? {
    guard let text = try? readText(path) else { return nil }
    for line in text.split(separator: "\n") where line.hasPrefix("\(name):") {
      let digits = line.dropFirst(name.utf8.count + 1).drop { $0 == " " || $0 == "\t" }.prefix { $0.isNumber }
      return Int(digits)
    }
    return nil
  }
}
