import StrandlineServer
@_spi(Engine) import StrandlineSync

extension ServeSettings.KeySource {
  /// The keys, loaded once; those that are published are loaded again when they may have changed.
  ///
  /// - Parameter now: Seconds since 1970.
  /// - Throws: ``Failure``: usage for what is no key, an I/O error for what cannot be had.
  func keys(now: Int64) async throws -> TokenKeys {
    switch self {
    case .secretFile(let path):
      let secret = try SettingsFile.readLine(path)
      do throws(TokenKeyError) {
        return TokenKeys(try TokenKeySet(secret: secret))
      } catch {
        throw Failure(.usage, "\(path): \(error)")
      }
    case .jwksFile(let path): return try await Self.loaded(path, now) { try SettingsFile.read(path) }
    case .jwksURL(let url):
      let exchange = HTTPExchange()
      return try await Self.loaded(url, now) {
        try await exchange.document(at: url, byteCountMax: TokenKeySet.byteCountMax)
      }
    }
  }

  private static func loaded(_ place: String, _ now: Int64, _ load: @escaping TokenKeys.Load) async throws -> TokenKeys
  {
    let keys = TokenKeys(jwks: load)
    do {
      try await keys.reload(now: now)
    } catch let error as Failure {
      throw error
    } catch let error as TokenKeyError {
      throw Failure(.usage, "\(place): \(error)")
    } catch let error as SyncError {
      throw Failure(.usage, "\(place): \(error.message)")
    } catch {
      throw Failure(.ioFailure, "\(place): \(error)")
    }
    return keys
  }
}
