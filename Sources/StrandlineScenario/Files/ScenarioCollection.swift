internal import FoundationEssentials

/// The scenario files of some paths, in the order of the paths and, in folders, of the names.
public struct ScenarioCollection: Sendable {
  public private(set) var files: [ScenarioFile] = []
  /// JSON files in folders that are of no kind that there is.
  public private(set) var passedOver: [String] = []

  public var cases: [ScenarioCase] { files.flatMap(\.cases) }

  /// Reads files, and folders with all `*.json` files below them. Links to folders are not followed.
  ///
  /// A file in a folder that is no JSON, or cannot be read, is one case that fails, for it may have been one.
  ///
  /// - Throws: ``ScenarioPathError``.
  public init(paths: [String]) throws(ScenarioPathError) {
    for path in paths {
      var isFolder = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
        throw ScenarioPathError(kind: .unreadable, path: path, reason: "there is no such file or folder")
      }
      if isFolder { try addFolder(path) } else { try addFile(path) }
    }
  }

  private mutating func addFile(_ path: String) throws(ScenarioPathError) {
    let bytes = try Self.bytes(of: path)
    let json: Value
    do throws(StoreError) { json = try Value.json(bytes) } catch {
      throw ScenarioPathError(kind: .noScenario, path: path, reason: "is no JSON: \(error)")
    }
    guard let file = ScenarioFile(path: path, json: json) else {
      let reason = "is no scenario file: its keys tell none of the kinds that there are"
      throw ScenarioPathError(kind: .noScenario, path: path, reason: reason)
    }
    files.append(file)
  }

  private mutating func addFolder(_ folder: String) throws(ScenarioPathError) {
    let names: [String]
    do { names = try FileManager.default.subpathsOfDirectory(atPath: folder) } catch {
      throw ScenarioPathError(kind: .unreadable, path: folder, reason: "\(error)")
    }
    for name in names.sorted() where name.hasSuffix(".json") {
      let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
      var isFolder = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder else { continue }
      let bytes: [UInt8]
      do throws(ScenarioPathError) { bytes = try Self.bytes(of: path) } catch {
        files.append(ScenarioFile(undecodable: path, reason: error.reason))
        continue
      }
      do throws(StoreError) {
        if let file = ScenarioFile(path: path, json: try Value.json(bytes)) {
          files.append(file)
        } else {
          passedOver.append(path)
        }
      } catch {
        files.append(ScenarioFile(undecodable: path, reason: "is no JSON: \(error)"))
      }
    }
  }

  private static func bytes(of path: String) throws(ScenarioPathError) -> [UInt8] {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw ScenarioPathError(kind: .unreadable, path: path, reason: "cannot be read")
    }
    return Array(data)
  }
}

/// A path from which no scenarios can be read.
public struct ScenarioPathError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Kind: Sendable {
    /// The file was named, and is no scenario file.
    case noScenario
    /// There is nothing, or it cannot be read.
    case unreadable
  }

  public var kind: Kind
  public var path: String
  public var reason: String

  public var description: String { "\(path): \(reason)" }
}
