internal import Glibc

/// A directory on the machine's disk that goes away with its owner.
public final class TemporaryDirectory: Sendable {
  public let path: String

  public init() {
    DescriptorLimit.raise()
    var template = Array("/tmp/strandline-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { preconditionFailure("no temporary directory: errno \(errno)") }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { Self.remove(path) }

  private static func remove(_ path: String) {
    if let directory = opendir(path) {
      while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name == "." || name == ".." { continue }
        let inner = "\(path)/\(name)"
        if entry.pointee.d_type == UInt8(DT_DIR) { remove(inner) } else { unlink(inner) }
      }
      closedir(directory)
    }
    rmdir(path)
  }
}
