internal import Glibc

/// The state of a ``VisibleCursor``, and its loops for whatever cursor they run on.
struct VisibleScan {
  private enum Phase { case start, atReturned, inFront, ended }

  private let sequence: UInt64
  private let reverse: Bool
  private var phase = Phase.start
  private let lower: ScanBound
  /// Nil: the end of the key space.
  private let upper: ScanBound?
  /// Going back: a version that the cursor has left already.
  private var kept = KeptVersion()

  init(range: KeyRange, sequence: UInt64, reverse: Bool) {
    self.sequence = sequence
    self.reverse = reverse
    lower = ScanBound(range.lower)
    upper = range.upper.map { ScanBound($0) }
  }

  func giveBack() {
    lower.giveBack()
    upper?.giveBack()
    kept.giveBack()
  }

  @inline(__always)
  mutating func next<Source: VersionCursor>(_ source: Source) throws(StoreError) -> VersionView? {
    let before = phase
    // An error ends the scan.
    phase = .ended
    if reverse { return try previous(source, before) }
    switch before {
    case .ended: return nil
    case .start: try source.seek(to: lower.key)
    default: try source.advancePastKey()
    }
    while let view = source.current {
      if let upper, !upper.isBehind(view.key) { return nil }
      if view.sequence > sequence {
        try source.advance()
      } else if view.value == nil {
        try source.advancePastKey()
      } else {
        phase = .atReturned
        return view
      }
    }
    return nil
  }

  /// Going back, a key's oldest version comes first: each is kept until the next is too new, or another key's.
  @inline(__always)
  private mutating func previous<Source: VersionCursor>(
    _ source: Source, _ before: Phase
  ) throws(StoreError) -> VersionView? {
    switch before {
    case .ended: return nil
    case .start: try source.seekBack(before: upper?.key)
    default: break
    }
    while let first = source.current {
      if lower.isBehind(first.key) { return nil }
      var newest: VersionView?
      if Source.viewsStay {
        if first.sequence <= sequence { newest = first }
        try source.retreat()
        while let view = source.current, isSame(view.key, first.key) {
          if view.sequence <= sequence { newest = view }
          try source.retreat()
        }
      } else {
        kept.setKey(first.key)
        if first.sequence <= sequence {
          kept.setValue(first)
          newest = kept.view
        }
        try source.retreat()
        while let view = source.current, isSame(view.key, kept.key) {
          if view.sequence <= sequence {
            kept.setValue(view)
            newest = kept.view
          }
          try source.retreat()
        }
      }
      if let newest, newest.value != nil {
        phase = .inFront
        return newest
      }
    }
    return nil
  }

  @inline(__always)
  private func isSame(_ one: KeyView, _ other: KeyView) -> Bool { KeyView.compare(one, other) == 0 }
}

/// An end of a key range, in memory of its own.
private struct ScanBound {
  let key: KeyView
  private let head: UInt64
  private let memory: UnsafeMutableRawBufferPointer

  init(_ key: StoreKey) {
    memory = .allocate(byteCount: max(1, key.bytes.count), alignment: 8)
    memory.copyBytes(from: key.bytes)
    self.key = KeyView(prefix: key.prefix, bytes: UnsafeRawBufferPointer(rebasing: memory[0..<key.bytes.count]))
    head = self.key.head
  }

  func giveBack() { memory.deallocate() }

  /// Whether the other key comes before this one.
  @inline(__always)
  func isBehind(_ other: KeyView) -> Bool {
    let head = other.head
    if head != self.head { return head < self.head }
    return KeyView.compare(other, key) < 0
  }
}

/// A copy of a version.
private struct KeptVersion {
  private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private var prefix = KeyPrefix(rawValue: 0)
  private var keyByteCount = 0
  private var valueByteCount: Int?
  private var sequence: UInt64 = 0

  func giveBack() { memory.deallocate() }

  @inline(__always)
  var key: KeyView {
    KeyView(prefix: prefix, bytes: UnsafeRawBufferPointer(rebasing: memory[0..<keyByteCount]))
  }

  @inline(__always)
  var view: VersionView {
    VersionView(
      key: key, sequence: sequence,
      value: valueByteCount.map { UnsafeRawBufferPointer(rebasing: memory[keyByteCount..<keyByteCount + $0]) })
  }

  @inline(__always)
  mutating func setKey(_ key: KeyView) {
    makeRoom(key.bytes.count, keeping: 0)
    prefix = key.prefix
    keyByteCount = key.bytes.count
    if keyByteCount > 0 { memory.copyMemory(from: key.bytes) }
  }

  @inline(__always)
  mutating func setValue(_ version: VersionView) {
    sequence = version.sequence
    valueByteCount = version.value?.count
    guard let value = version.value, value.count > 0 else { return }
    makeRoom(keyByteCount + value.count, keeping: keyByteCount)
    UnsafeMutableRawBufferPointer(rebasing: memory[keyByteCount...]).copyMemory(from: value)
  }

  @inline(__always)
  private mutating func makeRoom(_ byteCount: Int, keeping used: Int) {
    if byteCount > memory.count { grow(byteCount, keeping: used) }
  }

  private mutating func grow(_ byteCount: Int, keeping used: Int) {
    let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(byteCount, memory.count * 2, 512), alignment: 8)
    if used > 0 { larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[0..<used])) }
    memory.deallocate()
    memory = larger
  }
}
