internal import CReference
internal import Glibc

/// What a figure depends on besides the code.
struct MachineEnvironment: Hashable, Sendable {
  var cpu: String
  var cores: Int
  var memoryByteCount: Int
  var kernel: String
  var fileSystem: String
  var device: String
  var compiler: String
  var commit: String
  /// UTC, to the second.
  var date: String

  /// Of this machine, for data under `directory`.
  static func current(directory: String) -> MachineEnvironment {
    let mount = Mount(holding: directory)
    return MachineEnvironment(
      cpu: cpuName, cores: sysconf(Int32(_SC_NPROCESSORS_ONLN)),
      memoryByteCount: sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE)), kernel: kernelName,
      fileSystem: mount.type, device: mount.device, compiler: compilerName, commit: commitName, date: now)
  }

  private static var cpuName: String {
    let text = (try? readText("/proc/cpuinfo")) ?? ""
    func field(_ name: String) -> String? {
      guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else { return nil }
      return line.split(separator: ":", maxSplits: 1).dropFirst().first.map(trimmed)
    }
    guard let name = field("model name") else { return "unknown" }
    // Virtual machines hide the model behind a family name: the numbers tell what it is.
    guard let family = field("cpu family"), let model = field("model\t") else { return name }
    return "\(name) (family \(family), model \(model))"
  }

  private static var kernelName: String {
    var names = utsname()
    guard uname(&names) == 0 else { return "unknown" }
    let release = withUnsafeBytes(of: &names.release) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    return "Linux \(release)"
  }

  private static var compilerName: String {
    let swift = ChildProcess.output(of: ["swift", "--version"]).flatMap { text -> String? in
      guard let start = text.firstRange(of: "Swift version ") else { return nil }
      return String(text[start.upperBound...].prefix { $0 != " " && $0 != "\n" })
    }
    return "Swift \(swift ?? "unknown"), \(String(cString: reference_compiler()))"
  }

  private static var commitName: String {
    guard let name = ChildProcess.output(of: ["git", "rev-parse", "--short=12", "HEAD"]) else { return "unknown" }
    let changes = ChildProcess.output(of: ["git", "status", "--porcelain", "--untracked-files=no"]) ?? ""
    return trimmed(name) + (trimmed(changes).isEmpty ? "" : "+changes")
  }

  private static var now: String {
    var seconds = time(nil)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    var buffer = [CChar](repeating: 0, count: 32)
    let count = strftime(&buffer, buffer.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
    return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  private static func trimmed(_ text: some StringProtocol) -> String {
    let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\n" || $0 == "\t" }
    return String(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
  }
}

/// The file system that holds a directory.
private struct Mount {
  var type = "unknown"
  var device = "unknown"

  init(holding directory: String) {
    guard let resolved = realpath(directory, nil) else { return }
    defer { free(resolved) }
    let path = String(cString: resolved)
    var longest = -1
    for line in ((try? readText("/proc/mounts")) ?? "").split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count > 2 else { continue }
      let mountPoint = String(fields[1])
      let isAbove = mountPoint == "/" || path == mountPoint || path.hasPrefix("\(mountPoint)/")
      guard isAbove, mountPoint.utf8.count >= longest else { continue }
      longest = mountPoint.utf8.count
      device = String(fields[0])
      type = String(fields[2])
    }
  }
}
