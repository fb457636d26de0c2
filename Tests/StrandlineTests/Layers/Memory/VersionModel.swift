@testable import Strandline

/// The dull model of a layer, or of a stack of them: per key all versions, the oldest first.
struct VersionModel {
  struct Version: Equatable {
    var key: StoreKey
    var sequence: UInt64
    /// Nil: deleted.
    var value: [UInt8]?

    init(key: StoreKey, sequence: UInt64, value: [UInt8]?) {
      self.key = key
      self.sequence = sequence
      self.value = value
    }

    init(_ view: VersionView) {
      self.init(key: StoreKey(copying: view.key), sequence: view.sequence, value: view.value.map { Array($0) })
    }
  }

  private(set) var versions: [StoreKey: [Version]] = [:]

  mutating func put(_ key: StoreKey, sequence: UInt64, value: [UInt8]?) {
    if versions[key]?.last?.sequence == sequence { versions[key]?.removeLast() }
    versions[key, default: []].append(Version(key: key, sequence: sequence, value: value))
  }

  mutating func removeNewest(_ key: StoreKey, sequence: UInt64) {
    guard versions[key]?.last?.sequence == sequence else { return }
    versions[key]?.removeLast()
    if versions[key]?.isEmpty == true { versions[key] = nil }
  }

  func find(_ key: StoreKey, at sequence: UInt64) -> Version? {
    versions[key]?.last { $0.sequence <= sequence }
  }

  var count: Int { versions.values.reduce(0) { $0 + $1.count } }

  /// Keys ascending, of one key the newest first.
  var inOrder: [Version] {
    versions.keys.sorted().flatMap { versions[$0, default: []].reversed() }
  }
}

extension MemoryLayer {
  func put(_ key: StoreKey, sequence: UInt64, value: [UInt8]?) {
    key.withView { view in
      guard let value else { return put(view, hash: hash(of: view), sequence: sequence, value: nil) }
      value.withUnsafeBytes { put(view, hash: hash(of: view), sequence: sequence, value: $0) }
    }
  }

  func removeNewest(_ key: StoreKey, sequence: UInt64) {
    key.withView { removeNewest($0, hash: hash(of: $0), sequence: sequence) }
  }

  func find(_ key: StoreKey, at sequence: UInt64, into buffer: inout ValueBuffer) -> VersionModel.Version? {
    let finding = key.withView { find($0, hash: hash(of: $0), at: sequence, into: &buffer) }
    return switch finding {
    case .absent: nil
    case .deleted(let sequence): VersionModel.Version(key: key, sequence: sequence, value: nil)
    case .found(let sequence): VersionModel.Version(key: key, sequence: sequence, value: Array(buffer.bytes))
    }
  }

  /// As a transaction does it.
  func putSoon(_ key: StoreKey, sequence: UInt64, value: [UInt8]?) {
    key.withView { key in
      guard let value else { return putSoon(key, hash: hash(of: key), sequence: sequence, value: nil) }
      value.withUnsafeBytes { putSoon(key, hash: hash(of: key), sequence: sequence, value: $0) }
    }
  }

  /// As replay does it.
  func putBatch(_ keys: [StoreKey], _ values: [[UInt8]?], sequence: UInt64) {
    let bytes = UnsafeMutableRawBufferPointer.allocate(
      byteCount: keys.reduce(1) { $0 + $1.bytes.count } + values.reduce(0) { $0 + ($1?.count ?? 0) }, alignment: 1)
    defer { bytes.deallocate() }
    var used = 0
    func copy(_ source: [UInt8]) -> UnsafeRawBufferPointer {
      let target = UnsafeMutableRawBufferPointer(rebasing: bytes[used..<used + source.count])
      target.copyBytes(from: source)
      used += source.count
      return UnsafeRawBufferPointer(target)
    }
    let items = zip(keys, values).map { key, value in
      let view = KeyView(prefix: key.prefix, bytes: copy(key.bytes))
      return MemoryLayer.Item(key: view, hash: hash(of: view), sequence: sequence, value: value.map(copy))
    }
    items.withUnsafeBufferPointer { put($0) }
  }
}
