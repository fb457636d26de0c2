@_spi(Engine) import StrandlineLog
import StrandlineTestSupport

/// libFuzzer's entry: one input, one damaged store, everything that reads stores.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let bytes, count > 1 else { return 0 }
  let input = Array(UnsafeBufferPointer(start: bytes, count: count))
  FuzzedStore(input).readEverything()
  return 0
}
