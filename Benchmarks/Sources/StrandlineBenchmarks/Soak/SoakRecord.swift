/// A record that says who wrote it and proves its own bytes, so that a checker needs nothing but the seed.
struct SoakRecord: Hashable {
  /// One commit of one writer of one child process.
  struct CommitName: Hashable, CustomStringConvertible {
    /// Number of the child.
    var run: UInt32
    var writer: UInt16
    /// From 0 on, one higher for each commit of the writer.
    var counter: UInt64

    var description: String { "commit \(counter) of writer \(writer) of run \(run)" }
  }

  var commit: CommitName
  /// Place in the commit, and how many records the commit has.
  var index: UInt16
  var count: UInt16

  static let headerByteCount = 18
  static let byteCountMax = 70_000

  /// Its bytes: who it is, then bytes that follow from that and the seed.
  func bytes(seed: UInt64) -> [UInt8] {
    var random = SplitMix64(state: seed ^ SplitMix64.mix(UInt64(commit.run) << 32 | UInt64(commit.writer) << 16))
    random.state ^= SplitMix64.mix(commit.counter &* 31 &+ UInt64(index))
    let size = random.next()
    // Mostly small; one in 64 larger than a raw frame's bound, so that LZ4 and frames of their own come up.
    let length = size & 63 == 0 ? Int(size >> 8 % 60_000) : Int(size >> 8 % 400)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.headerByteCount + length + 8)
    func put(_ value: some FixedWidthInteger) {
      withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
    put(commit.run)
    put(commit.writer)
    put(commit.counter)
    put(index)
    put(count)
    let isCompressible = size & 64 == 0
    while bytes.count < Self.headerByteCount + length {
      put(isCompressible ? random.next() & 0x0F0F_0000_0000_0F0F : random.next())
    }
    bytes.removeLast(bytes.count - Self.headerByteCount - length)
    return bytes
  }

  /// nil if the bytes are none that any writer could have written.
  init?(_ bytes: UnsafeRawBufferPointer, seed: UInt64) {
    guard bytes.count >= Self.headerByteCount else { return nil }
    func read<Value: FixedWidthInteger>(_ offset: Int, _: Value.Type) -> Value {
      Value(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Value.self))
    }
    self.init(
      commit: CommitName(run: read(0, UInt32.self), writer: read(4, UInt16.self), counter: read(6, UInt64.self)),
      index: read(14, UInt16.self), count: read(16, UInt16.self))
    guard self.bytes(seed: seed).elementsEqual(bytes) else { return nil }
  }

  init(commit: CommitName, index: UInt16, count: UInt16) {
    self.commit = commit
    self.index = index
    self.count = count
  }
}
