import Strandline
@_spi(Engine) import StrandlineLog

/// A place in the history as one word: `EPOCH:SEQUENCE:TAG`, the tag in hexadecimal.
enum PositionText {
  static func text(_ position: Position) -> String {
    "\(position.epoch):\(position.sequence):\(hexadecimal(position.tag))"
  }

  /// What `--since` says.
  enum Start: Equatable {
    case position(Position)
    /// Only the number of a commit: who asks does not mind what came before it.
    case sequence(SequenceNumber)
  }

  static func parsed(_ text: String) -> Start? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    if parts.count == 1, let number = UInt64(text), number <= SequenceNumber.max.rawValue {
      return .sequence(SequenceNumber(number))
    }
    guard parts.count == 3, let epoch = UInt64(parts[0]), let sequence = UInt64(parts[1]),
      sequence <= SequenceNumber.max.rawValue, let tag = UInt64(parts[2], radix: 16)
    else { return nil }
    return .position(Position(epoch: epoch, sequence: SequenceNumber(sequence), tag: tag))
  }

  static func value(_ arguments: Arguments, _ option: String) throws(UsageError) -> Start? {
    guard let text = arguments.value(option) else { return nil }
    guard let start = parsed(text) else {
      throw .invalidValue(
        option: option, value: text, expected: "a position as `changes --jsonl` prints it, or the number of a commit")
    }
    return start
  }
}
