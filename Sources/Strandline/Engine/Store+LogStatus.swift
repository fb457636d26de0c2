@_spi(Engine) public import StrandlineLog

extension Store {
  /// How the log below stands. Its identifier and incarnation tell the store from every other and from its own copies.
  @_spi(Engine) public var logStatus: LogStatus { engine.log.status }
}
