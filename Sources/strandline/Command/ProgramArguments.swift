/// What the shell gave, without the tool's own name.
enum ProgramArguments {
  /// - Throws: ``UsageError/notUTF8(_:)``. Mended bytes would name another file.
  static func all() throws(UsageError) -> [String] {
    var words: [String] = []
    for argument in UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst() {
      guard let argument else { continue }
      guard let word = String(validatingCString: argument) else { throw .notUTF8(String(cString: argument)) }
      words.append(word)
    }
    return words
  }
}
