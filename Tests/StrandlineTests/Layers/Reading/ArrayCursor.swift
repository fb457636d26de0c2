@testable import Strandline

/// A dull cursor over an array, as a disk layer's would behave: what it shows is overwritten by its next move.
final class ArrayCursor: VersionCursor {
  private let versions: [VersionModel.Version]
  private var index = -1
  private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
  private(set) var current: VersionView?
  /// Moves until one fails; nil: none does.
  var movesLeft: Int?

  static let failure = StoreError.undecodable(what: "a version", reason: "the test wants it")

  /// - Parameter versions: In order.
  init(_ versions: [VersionModel.Version]) { self.versions = versions }

  deinit { memory.deallocate() }

  func seek(to key: KeyView) throws(StoreError) {
    try show(versions.firstIndex { $0.key.withView { KeyView.compare($0, key) } >= 0 } ?? versions.count)
  }

  func seekBack(before key: KeyView?) throws(StoreError) {
    guard let key else { return try show(versions.count - 1) }
    try show(versions.lastIndex { $0.key.withView { KeyView.compare($0, key) } < 0 } ?? -1)
  }

  func advance() throws(StoreError) { try show(min(index + 1, versions.count)) }

  func retreat() throws(StoreError) { try show(max(index - 1, -1)) }

  private func show(_ index: Int) throws(StoreError) {
    for place in memory.indices { memory[place] = 0xEE }
    current = nil
    if let left = movesLeft {
      if left == 0 { throw Self.failure }
      movesLeft = left - 1
    }
    self.index = index
    guard versions.indices.contains(index) else { return }
    let version = versions[index]
    let value = version.value ?? []
    if memory.count < version.key.bytes.count + value.count {
      memory.deallocate()
      memory = .allocate(byteCount: version.key.bytes.count + value.count, alignment: 1)
    }
    memory.copyBytes(from: version.key.bytes + value)
    let keyEnd = version.key.bytes.count
    current = VersionView(
      key: KeyView(prefix: version.key.prefix, bytes: UnsafeRawBufferPointer(rebasing: memory[0..<keyEnd])),
      sequence: version.sequence,
      value: version.value.map { UnsafeRawBufferPointer(rebasing: memory[keyEnd..<keyEnd + $0.count]) })
  }
}

/// Walks a cursor beside an array of what it has to show.
struct CursorCheck {
  let expected: [VersionModel.Version]
  let cursor: any VersionCursor
  /// In `expected`: from -1, in front, to its count, behind.
  private var index = -1

  init(_ expected: [VersionModel.Version], _ cursor: any VersionCursor) {
    self.expected = expected
    self.cursor = cursor
  }

  /// One random move on both sides; whether they agree.
  mutating func move(_ random: inout RandomVersions, stays: Int) throws -> Bool {
    switch Int.random(in: 0..<12 * stays, using: &random.generator) {
    case 0:
      let key = random.key()
      try key.withView { (view) throws(StoreError) in try cursor.seek(to: view) }
      index = expected.firstIndex { !($0.key < key) } ?? expected.count
    case 1:
      let key = random.key()
      try key.withView { (view) throws(StoreError) in try cursor.seekBack(before: view) }
      index = expected.lastIndex { $0.key < key } ?? -1
    case 2 where Int.random(in: 0..<4, using: &random.generator) == 0:
      try cursor.seekBack(before: nil)
      index = expected.count - 1
    case 3, 4:
      try cursor.advancePastKey()
      let key = expected.indices.contains(index) ? expected[index].key : nil
      repeat { index = min(index + 1, expected.count) } while index < expected.count && expected[index].key == key
    case 5..<12 where stays == 1:
      try step(forward: Bool.random(using: &random.generator))
    case let number:
      try step(forward: number % 5 != 0)
    }
    return cursor.current.map { VersionModel.Version($0) } == (expected.indices.contains(index) ? expected[index] : nil)
  }

  private mutating func step(forward: Bool) throws {
    if forward {
      try cursor.advance()
      index = min(index + 1, expected.count)
    } else {
      try cursor.retreat()
      index = max(index - 1, -1)
    }
  }

  /// All of it, in one direction.
  func all(reverse: Bool) throws -> [VersionModel.Version] {
    var found: [VersionModel.Version] = []
    if reverse { try cursor.seekBack(before: nil) } else { try cursor.seek(to: .lowest) }
    while let view = cursor.current {
      found.append(VersionModel.Version(view))
      if reverse { try cursor.retreat() } else { try cursor.advance() }
    }
    return found
  }
}
