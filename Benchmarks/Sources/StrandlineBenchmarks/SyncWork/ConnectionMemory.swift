internal import Glibc
internal import StrandlineServer
internal import StrandlineSync

/// `sync.server.memory`: what the server keeps for connections that have asked once and now wait.
struct ConnectionMemory: Subject {
  var name: SubjectName { .strandline }

  func sample(_ site: Site) throws -> Sample {
    let count = site.rowCount
    return try site.withEmptyDirectory { directory in
      try waitFor {
        let server = try await BenchServer.open("\(directory)/server")
        let http = try BenchServer.serve(server)
        // The first ones pay for what all share.
        var sockets = try (0..<8).map { _ in try Self.connection(http.address.port) }
        defer { for socket in sockets { close(socket) } }
        let before = ProcessUsage.anonymousByteCount ?? 0
        for _ in 0..<count { sockets.append(try Self.connection(http.address.port)) }
        let after = ProcessUsage.anonymousByteCount ?? 0
        await http.stop()
        try await server.close()
        var sample = Sample()
        sample[.perConnection] = Double(max(0, after - before)) / Double(count)
        return sample
      }
    }
  }

  /// A connection on which one request was made and answered.
  private static func connection(_ port: UInt16) throws -> Int32 {
    let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { throw BenchmarkError.ioFailed(operation: "connect", path: "loopback", errno: errno) }
    let request = Array("GET /healthz HTTP/1.1\r\nHost: bench\r\n\r\n".utf8)
    var answer = [UInt8](repeating: 0, count: 4096)
    guard send(file, request, request.count, 0) == request.count, recv(file, &answer, answer.count, 0) > 0 else {
      throw BenchmarkError.ioFailed(operation: "ask", path: "loopback", errno: errno)
    }
    return file
  }
}
