import CFuzzTag

/// XXH3-64, as the log computes its tags.
func fuzzTag(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
  fuzz_tag(bytes.baseAddress, bytes.count, seed)
}
