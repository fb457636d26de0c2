import Foundation
import Glibc
import Strandline
import StrandlineLog

@testable import strandline

/// A store with tables in a directory of its own, and the commands run on it in this process.
struct TableStore {
  let scratch: ScratchDirectory
  var path: String { scratch.file("store") }

  /// An empty place.
  init() throws { scratch = try ScratchDirectory() }

  /// The directory `store` of `scratch`, whatever is there.
  init(at scratch: ScratchDirectory) { self.scratch = scratch }

  /// A table `people` with the key `id`, an index over `city` and so many rows, in commits of ten.
  init(people count: Int) throws {
    try self.init()
    let lines = (1...count).map { Self.person($0) + "\n" }.joined()
    scratch.write(Array(lines.utf8), to: "people.jsonl")
    let run = run(
      "load", "%", "--table", "people", "--key", "id:int", "--column", "name:string", "--index", "city", "--batch",
      "10",
      scratch.file("people.jsonl"))
    precondition(run.code == .success, run.err)
  }

  static func person(_ id: Int) -> String {
    #"{"id":\#(id),"name":"person \#(id)","city":"\#(["Ulm", "Bern", "Graz"][id % 3])","age":\#(20 + id % 50)}"#
  }

  /// Runs `strandline` in this process with `%` standing for the store's path.
  @discardableResult
  func run(_ words: String...) -> InspectedStore.Run { run(words) }

  @discardableResult
  func run(_ words: [String]) -> InspectedStore.Run {
    let console = Console(out: Output(descriptor: nil), err: Output(descriptor: nil))
    let arguments = words.map { $0.replacingOccurrences(of: "%", with: path) }
    let code = CommandRunner(root: StrandlineTool.root, version: "test").run(arguments, console: console)
    return InspectedStore.Run(
      code: code, out: String(decoding: console.out.pending, as: UTF8.self),
      err: String(decoding: console.err.pending, as: UTF8.self))
  }

  /// The objects of a JSON Lines answer.
  func objects(_ words: String...) throws -> [[String: Any]] {
    try run(words).lines.map { try parsedJSON($0) as? [String: Any] ?? [:] }
  }

  func object(_ words: String...) throws -> [String: Any] { try parsedJSON(run(words).out) as? [String: Any] ?? [:] }
}
