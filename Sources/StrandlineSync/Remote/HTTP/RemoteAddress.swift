internal import Foundation
internal import Glibc

/// The url of a server, held against the rule: what is secret travels enciphered, or not beyond the neighbourhood.
struct RemoteAddress {
  let url: URL

  init(_ text: String) throws(SyncError) {
    func refused(_ reason: String) -> SyncError { SyncError(.configInvalid, "the remote's url: \(reason)") }
    guard let parts = URLComponents(string: text), let url = parts.url else { throw refused("no url") }
    guard parts.user == nil, parts.password == nil else { throw refused("a user or password has no place in it") }
    guard parts.query == nil, parts.fragment == nil else { throw refused("a query or fragment has no place in it") }
    guard let host = parts.host.map(Self.bare), !host.isEmpty else { throw refused("no host") }
    if let port = parts.port, !(1...65_535).contains(port) { throw refused("\(port) is no port") }
    switch parts.scheme?.lowercased() {
    case "https": break
    case "http":
      guard Self.isNearby(host) else {
        throw refused("plain http goes to loopback, private and link-local addresses and .local names only; use https")
      }
    default: throw refused("https is wanted")
    }
    self.url = url
  }

  /// The address of a call.
  func appending(_ prefix: String, _ call: String) -> URL {
    var text = url.absoluteString
    while text.hasSuffix("/") { text.removeLast() }
    let path = prefix.isEmpty ? call : "\(prefix)/\(call)"
    return URL(string: "\(text)/\(path)") ?? url.appendingPathComponent(path)
  }

  /// A host without the brackets of an IPv6 address.
  private static func bare(_ host: String) -> String {
    host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
  }

  /// Only what is plainly an address or a name counts; other spellings of addresses (`127.1`, hexadecimal) are names to us.
  static func isNearby(_ host: String) -> Bool {
    var version4 = in_addr()
    if inet_pton(AF_INET, host, &version4) == 1 {
      return withUnsafeBytes(of: version4) { isNearby(version4: Array($0)) }
    }
    // A zone (`fe80::1%eth0`) says through which interface; the address decides.
    let address = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)[0]
    var version6 = in6_addr()
    if inet_pton(AF_INET6, String(address), &version6) == 1 {
      return withUnsafeBytes(of: version6) { isNearby(version6: Array($0)) }
    }
    var name = host.lowercased()
    if name.hasSuffix(".") { name.removeLast() }
    return name == "localhost" || name.hasSuffix(".localhost") || (name.hasSuffix(".local") && name.count > 6)
  }

  private static func isNearby(version4 bytes: [UInt8]) -> Bool {
    switch (bytes[0], bytes[1]) {
    case (127, _), (10, _), (192, 168), (169, 254), (172, 16...31): true
    default: false
    }
  }

  private static func isNearby(version6 bytes: [UInt8]) -> Bool {
    let zeros = [UInt8](repeating: 0, count: 10)
    if bytes.starts(with: zeros + [0xFF, 0xFF]) { return isNearby(version4: Array(bytes[12...])) }
    if bytes == zeros + [0, 0, 0, 0, 0, 1] { return true }
    return bytes[0] & 0xFE == 0xFC || (bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80)
  }
}
