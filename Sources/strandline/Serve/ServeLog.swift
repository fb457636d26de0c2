import Glibc
@_spi(Engine) import StrandlineLog
import StrandlineServer
import Synchronization

/// What a server tells while it runs: a line on standard error for each request that is over, and for what goes wrong.
///
/// Lines are written by a thread of their own, so that no request waits for a terminal; those that come too fast are counted, not kept.
final class ServeLog: Sendable {
  enum Form { case text, json }

  private static let waitingCountMax = 10_000

  private let form: Form
  private let tellsRequests: Bool
  private let waitingCount = Atomic<Int>(0)
  private let lostCount = Atomic<Int>(0)
  private let thread = HelperThread(name: "strand-log", clock: SystemClock())

  /// - Parameter tellsRequests: false: of trouble alone.
  init(_ form: Form, tellsRequests: Bool) throws {
    self.form = form
    self.tellsRequests = tellsRequests
    do throws(Errno) { try thread.start() } catch { throw Failure(.ioFailure, "no thread: \(error)") }
  }

  func request(_ entry: HTTPLogEntry) {
    if let message = entry.trouble { trouble("\(entry.route): \(message)") }
    guard tellsRequests else { return }
    let (seconds, attoseconds) = entry.duration.components
    let milliseconds = Double(seconds) * 1000 + (Double(attoseconds) / 1e12).rounded() / 1000
    let status = entry.status.map { String($0) }
    if form == .json {
      var line = event("request")
      line.fields.append(("method", .string(entry.method)))
      line.fields.append(("route", .string(entry.route)))
      line.fields.append(("peer", .string(entry.peer)))
      line.fields.append(("status", entry.status.map { .int(Int64($0)) } ?? .null))
      line.fields.append(("received", .int(Int64(entry.receivedByteCount))))
      line.fields.append(("sent", .int(Int64(entry.sentByteCount))))
      line.fields.append(("milliseconds", .double(milliseconds)))
      write(line.json)
    } else {
      write(
        "\(time) \(entry.peer) \(entry.method) \(entry.route) \(status ?? "-") \(entry.receivedByteCount) "
          + "\(entry.sentByteCount) \(milliseconds) ms")
    }
  }

  /// Something that an operator should know.
  func trouble(_ message: String) {
    if form == .json {
      var line = event("trouble")
      line.fields.append(("message", .string(message)))
      write(line.json)
    } else {
      write("\(time) \(TerminalText.escaped(message))")
    }
  }

  /// Writes what waits.
  func close() { thread.stop() }

  private var time: String { UTCTime.text(milliseconds: SystemClock().wallMilliseconds()) }

  private func event(_ name: String) -> LogLine { LogLine([("event", .string(name)), ("time", .string(time))]) }

  private func write(_ line: String) {
    guard waitingCount.load(ordering: .relaxed) < Self.waitingCountMax else {
      lostCount.add(1, ordering: .relaxed)
      return
    }
    waitingCount.add(1, ordering: .relaxed)
    thread.submit { [self] in
      waitingCount.subtract(1, ordering: .relaxed)
      var text = line + "\n"
      let lost = lostCount.exchange(0, ordering: .relaxed)
      if lost > 0, form == .text { text += "\(time) \(lost) lines came too fast and were not kept\n" }
      if lost > 0, form == .json { text += LogLine([("event", "lost"), ("lines", .int(Int64(lost)))]).json + "\n" }
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        // A standard error that nobody reads is no reason to stop.
        if count <= 0 { return }
        rest = rest.dropFirst(count)
      }
    }
  }
}

/// One object of a JSON log, its members in the order of their writing.
struct LogLine {
  var fields: [(name: String, value: Value)]

  init(_ fields: [(name: String, value: Value)]) { self.fields = fields }

  var json: String {
    var text: [UInt8] = [UInt8(ascii: "{")]
    for (place, field) in fields.enumerated() {
      if place > 0 { text.append(UInt8(ascii: ",")) }
      Value.string(field.name).appendJSON(to: &text)
      text.append(UInt8(ascii: ":"))
      field.value.appendJSON(to: &text)
    }
    return String(decoding: text + [UInt8(ascii: "}")], as: UTF8.self)
  }
}
