/// A mistake on the command line. One line on standard error, exit code 2; nothing was done.
enum UsageError: Error, Equatable {
  case missingCommand(after: String)
  case unknownCommand(String, suggestion: String?)
  case unknownOption(String, suggestion: String?)
  case missingValue(option: String, valueName: String)
  case missingOption(String, valueName: String)
  case unexpectedValue(option: String)
  case invalidValue(option: String, value: String, expected: String)
  case invalidArgument(name: String, value: String, expected: String)
  case repeatedOption(String)
  case conflict(String, String)
  case incomplete(String, needs: String)
  case notInThisBuild(option: String, instead: String)
  case missingArgument(String)
  case extraArgument(String)
  /// Shown with its bytes mended.
  case notUTF8(String)
}

extension UsageError: CustomStringConvertible {
  var description: String {
    switch self {
    case .missingCommand(let group): "'\(group)' needs a command"
    case .unknownCommand(let name, let suggestion): "unknown command '\(name)'" + Self.hint(suggestion)
    case .unknownOption(let name, let suggestion): "unknown option '\(name)'" + Self.hint(suggestion)
    case .missingValue(let option, let valueName): "\(option) needs a value: \(option) \(valueName)"
    case .missingOption(let option, let valueName): "\(option) \(valueName) is missing"
    case .unexpectedValue(let option): "\(option) takes no value"
    case .invalidValue(let option, let value, let expected): "\(option) '\(value)' is not \(expected)"
    case .invalidArgument(let name, let value, let expected): "\(name) '\(value)' is not \(expected)"
    case .repeatedOption(let option): "\(option) was given twice"
    case .conflict(let first, let second): "\(first) and \(second) exclude each other"
    case .notUTF8(let word): "an argument is not UTF-8, and names are taken as UTF-8: '\(word)'"
    case .incomplete(let option, let other): "\(option) needs \(other) beside it"
    case .notInThisBuild(let option, let instead): "\(option) is not in this build; use \(instead)"
    case .missingArgument(let name): "\(name) is missing"
    case .extraArgument(let word): "'\(word)' is one argument too many"
    }
  }

  private static func hint(_ suggestion: String?) -> String {
    suggestion.map { "; did you mean '\($0)'?" } ?? ""
  }
}
