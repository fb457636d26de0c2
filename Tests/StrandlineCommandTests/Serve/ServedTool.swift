import Glibc
import StrandlineSync
import StrandlineTestSupport

@testable import strandline

/// A `strandline serve` at work, started and ended by a test.
final class ServedTool: @unchecked Sendable {
  static let secret = "0123456789abcdef0123456789abcdef"
  /// Of the user `ann`, signed with the secret, until 2100.
  static let token =
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4iLCJleHAiOjQxMDI0NDQ4MDB9.ArYAibI1dlEDn27QomKqp1zyziq6-wQFXqVftb2VgKM"
  static let context = RemoteContext(accessToken: token)

  // The test uses it, and then whoever waits for its end.
  private let child: ChildProcess
  let url: String

  /// Starts it and waits until it says where it listens; throws if it ends before.
  init(_ arguments: [String]) throws {
    let address = arguments.contains("--listen") ? [] : ["--listen", "127.0.0.1:0"]
    child = try ChildProcess(ToolRun.path, ["serve"] + address + arguments, output: .pipe, errors: .pipe)
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(child.output, &byte, 1) == 1, byte != 0x0A { line.append(byte) }
    let words = String(decoding: line, as: UTF8.self).split { $0 == " " || $0 == "\"" }
    url = words.first { $0.hasPrefix("http") }.map { String($0) } ?? ""
    if url.isEmpty { throw Silent(errors: Self.readToEnd(child.errors)) }
  }

  struct Silent: Error {
    var errors: String
  }

  var port: Int { Int(url.split(separator: ":").last ?? "") ?? 0 }

  func remote() throws -> HTTPRemote {
    var configuration = RemoteConfiguration(url: url, publishableKey: "key")
    // The tests that run beside it may keep the pool's threads for long.
    configuration.deadlines.connect = .seconds(900)
    configuration.deadlines.request = .seconds(900)
    return try HTTPRemote(configuration)
  }

  /// Sends the signal and waits for the end; answers what it wrote on standard error, too.
  func end(_ signal: Int32 = SIGTERM) -> (ending: ChildProcess.Ending, errors: String) {
    child.send(signal: signal)
    let errors = Self.readToEnd(child.errors)
    return (child.wait(), errors)
  }

  private static func readToEnd(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = read(descriptor, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }
}
