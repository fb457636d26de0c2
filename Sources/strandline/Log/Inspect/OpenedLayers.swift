@_spi(Engine) import Strandline
@_spi(Engine) import StrandlineLog

/// The layers of a store as an open would find them, by path: header, footer and index, and none of their blocks.
struct OpenedLayers {
  private let proofs: [String: LayerProof]

  /// A layer that went away meanwhile, of a writer at work, is left out.
  init(of survey: StoreSurvey) {
    guard let identifier = survey.root.root?.identifier else {
      proofs = [:]
      return
    }
    let inspector = LayerInspector(
      in: StoreDirectory(path: survey.path, fileSystem: Environment.system.fileSystem), of: identifier)
    var proofs: [String: LayerProof] = [:]
    for layer in survey.layers where layer.isWhole {
      guard let entry = layer.entry else { continue }
      do throws(LogError) {
        proofs[layer.path] = try inspector.proof(of: entry, readsBlocks: false)
      } catch {
        guard error != .generationGone else { continue }
        var proof = LayerProof(file: layer.path, byteCount: layer.byteCount ?? 0)
        proof.refusal = error
        proofs[layer.path] = proof
      }
    }
    self.proofs = proofs
  }

  subscript(path: String) -> LayerProof? { proofs[path] }

  /// The first layer of the root, from the top, for which an open refuses the store.
  func refusal(_ survey: StoreSurvey) -> LogError? {
    for layer in survey.layers {
      guard let entry = layer.entry else { continue }
      if let error = proofs[layer.path]?.refusal { return error }
      guard layer.isWhole else {
        return .corrupt(
          CorruptionReport(
            reason: .layerDamaged, file: layer.path, expected: "a file of \(entry.byteCount) bytes",
            found: layer.byteCount.map { "\($0) bytes" } ?? "no file"))
      }
    }
    return nil
  }
}
