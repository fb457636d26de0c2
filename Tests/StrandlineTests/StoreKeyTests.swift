import Testing

@testable import Strandline

struct StoreKeyTests {
  @Test func `keys are ordered by family, table and bytes, and a shorter one comes first`() {
    let keys = [
      StoreKey(KeyPrefix(.meta), [0xFF]), StoreKey(KeyPrefix(.row, table: 1), []),
      StoreKey(KeyPrefix(.row, table: 1), [0]),
      StoreKey(KeyPrefix(.row, table: 1), [0, 1]), StoreKey(KeyPrefix(.row, table: 1), [0x80]),
      StoreKey(KeyPrefix(.row, table: 256), []), StoreKey(KeyPrefix(.index, table: 0), []),
    ]
    for (index, key) in keys.enumerated() {
      for (other, right) in keys.enumerated() { #expect((key < right) == (index < other)) }
    }
  }
}
