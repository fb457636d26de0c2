import Glibc
import Strandline

/// JSON Lines on standard input as rows, with the places they stand at.
enum LineRows {
  static let byteCountMax = 256 << 20

  static func standardInput() throws -> [(place: String, row: Row)] {
    var rows: [(place: String, row: Row)] = []
    var splitter = LineSplitter()
    var number = 0
    func take(_ line: Range<Int>, _ splitter: borrowing LineSplitter) throws {
      number += 1
      let place = "line \(number)"
      let row = try splitter.withLine(line) { (bytes: UnsafeRawBufferPointer) throws -> Row? in
        bytes.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D } ? nil : try RowLine.row(bytes, place)
      }
      if let row { rows.append((place, row)) }
    }
    while true {
      switch splitter.read(from: STDIN_FILENO) {
      case .bytes:
        while let line = splitter.takeLine() { try take(line, splitter) }
        // All of them are held: writes are made once every line is known to be good.
        guard splitter.readByteCount <= byteCountMax else {
          throw Failure(.usage, "standard input: more than \(HumanUnits.bytes(byteCountMax)); write it in parts")
        }
      case .nothing:
        var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        poll(&waiting, 1, -1)
      case .end:
        if let line = splitter.takeLastLine() { try take(line, splitter) }
        return rows
      case .failed(let number): throw Failure(.ioFailure, "standard input: \(String(cString: strerror(number)))")
      }
    }
  }
}
