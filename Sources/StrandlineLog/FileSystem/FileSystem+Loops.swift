internal import Glibc

// One system call may move less than it was asked to. Linux moves at most 2 GiB - 4 KiB at a time; larger requests are
// split here so that no implementation has to know.
private let oneCallByteCountMax = 0x7fff_f000

extension FileSystem {
  /// Writes all of `bytes` at `offset`: continues after short writes and `EINTR`, splits above 2 GiB.
  ///
  /// - Throws: the first error; bytes in front of it may be in the file.
  @_spi(Engine) public func writeAll(
    _ file: FileDescriptor, _ bytes: UnsafeRawBufferPointer, at offset: Int64
  ) throws(Errno) {
    var done = 0
    while done < bytes.count {
      let end = done + min(bytes.count - done, oneCallByteCountMax)
      do throws(Errno) {
        let count = try write(file, UnsafeRawBufferPointer(rebasing: bytes[done..<end]), at: offset + Int64(done))
        // A device that takes nothing and reports nothing would be asked for ever.
        guard count > 0, count <= end - done else { throw Errno(EIO) }
        done += count
      } catch {
        guard error.rawValue == EINTR else { throw error }
      }
    }
  }

  /// Reads until `buffer` is full or the file ends. Returns the number of bytes read.
  @_spi(Engine) public func readFully(
    _ file: FileDescriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(Errno) -> Int {
    var done = 0
    while done < buffer.count {
      let end = done + min(buffer.count - done, oneCallByteCountMax)
      do throws(Errno) {
        let part = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<end])
        let count = try read(file, into: part, at: offset + Int64(done))
        guard count >= 0, count <= end - done else { throw Errno(EIO) }
        if count == 0 { break }
        done += count
      } catch {
        guard error.rawValue == EINTR else { throw error }
      }
    }
    return done
  }

  /// Reads up to `byteCount` bytes at `offset`; fewer only at the end of the file.
  @_spi(Engine) public func readBytes(
    _ file: FileDescriptor, at offset: Int64, byteCount: Int
  ) throws(Errno) -> [UInt8] {
    var failure: Errno?
    let bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
      do throws(Errno) {
        count = try readFully(file, into: UnsafeMutableRawBufferPointer(buffer), at: offset)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  @_spi(Engine) public func retryingInterrupts<Result>(
    _ call: () throws(Errno) -> Result
  ) throws(Errno) -> Result {
    while true {
      do throws(Errno) {
        return try call()
      } catch {
        guard error.rawValue == EINTR else { throw error }
      }
    }
  }

  @_spi(Engine) public func openRetrying(_ path: String, _ access: FileAccess) throws(Errno) -> FileDescriptor {
    try retryingInterrupts { () throws(Errno) in try open(path, access) }
  }

  /// Closes and forgets. An error of close tells nothing that a sync did not tell before; the descriptor is gone
  /// either way, so it is never closed twice.
  @_spi(Engine) public func closeQuietly(_ file: FileDescriptor) {
    do { try close(file) } catch {}
  }

  /// The status of `path`, or nil if there is no such name.
  @_spi(Engine) public func statusIfPresent(at path: String) throws(Errno) -> FileStatus? {
    do throws(Errno) {
      return try retryingInterrupts { () throws(Errno) in try status(at: path) }
    } catch {
      guard error.rawValue == ENOENT else { throw error }
      return nil
    }
  }

  /// Whether a directory can be seen at `path`.
  @_spi(Engine) public func isDirectory(_ path: String) -> Bool {
    do throws(Errno) { return try statusIfPresent(at: path)?.kind == .directory } catch { return false }
  }

  /// Makes a directory, and those that it lies in, where there are none. Their names survive power loss.
  @_spi(Engine) public func makeDirectories(_ path: String) throws(Errno) {
    if try statusIfPresent(at: path) != nil { return }
    let parent = StoreDirectory.parent(of: path)
    try makeDirectories(parent)
    do throws(Errno) {
      try retryingInterrupts { () throws(Errno) in try makeDirectory(path) }
    } catch {
      // Somebody else has made it.
      guard error.rawValue == EEXIST else { throw error }
    }
    try retryingInterrupts { () throws(Errno) in try syncDirectory(parent) }
  }

  @_spi(Engine) public func unlinkIfPresent(_ path: String) throws(Errno) {
    do throws(Errno) {
      try retryingInterrupts { () throws(Errno) in try unlink(path) }
    } catch {
      guard error.rawValue == ENOENT else { throw error }
    }
  }
}
