/// What a run gives to the device, and what its peak memory is.
struct WrittenBytes {
  private let before = ProcessUsage.writtenByteCount

  /// Adds the bytes written since this was made, for each of the `logical` bytes that the engine was asked to write.
  func add(to sample: inout Sample, logical byteCount: Int) {
    guard let before, let after = ProcessUsage.writtenByteCount, byteCount > 0 else { return }
    sample[.written] = Double(after - before) / Double(byteCount)
  }
}

extension Sample {
  /// The process's peak, less the `held` bytes of rows that the bench itself keeps.
  mutating func addPeakResident(held byteCount: Int = 0) {
    guard let peak = ProcessUsage.peakResidentByteCount else { return }
    self[.peakResident] = Double(max(0, peak - byteCount))
  }
}
