internal import Glibc

/// Finds bytes in bytes.
enum ByteSearch {
  static func contains(_ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer) -> Bool {
    guard part.count > 0 else { return true }
    guard var place = text.baseAddress, let wanted = part.baseAddress else { return false }
    var left = text.count
    let first = Int32(part[0])
    while left >= part.count {
      guard let hit = memchr(place, first, left - part.count + 1) else { return false }
      if memcmp(hit, wanted, part.count) == 0 { return true }
      left -= UnsafeRawPointer(hit) - place + 1
      place = UnsafeRawPointer(hit) + 1
    }
    return false
  }

  static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
    text.withUnsafeBytes { text in part.withUnsafeBytes { contains(text, $0) } }
  }
}
