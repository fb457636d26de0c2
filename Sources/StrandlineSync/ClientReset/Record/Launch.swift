internal import StrandlineProtocol

/// This process, told apart from those before and after it.
enum Launch {
  static let id = UUIDBytes.random().description
}
