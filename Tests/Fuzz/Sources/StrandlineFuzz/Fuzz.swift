@_spi(Engine) import StrandlineLog
import StrandlineTestSupport

/// libFuzzer's entry: one input for one decoder, or for a store and everything that reads stores.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let bytes, count > 1 else { return 0 }
  let input = Array(UnsafeBufferPointer(start: bytes + 1, count: count - 1))
  switch FuzzedPart(bytes[0]) {
  case .store(let part): FuzzedStore(part, input).readEverything()
  case .decoder(let part): FuzzedDecoder.read(part, input)
  }
  return 0
}
