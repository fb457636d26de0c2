import FoundationEssentials
import StrandlineTestSupport
import Testing

@testable import Strandline

struct UUIDBytesTests {
  @Test func `text and bytes turn into each other, as Foundation has it`() {
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<1000 {
      let uuid = UUIDBytes.random(using: &generator)
      #expect(UUIDBytes(uuid.description) == uuid)
      #expect(UUIDBytes(uuid.description.uppercased()) == uuid)
      #expect(UUID(uuid).uuidString == uuid.description.uppercased())
      #expect(UUIDBytes(UUID(uuid)) == uuid)
    }
  }

  @Test func `a random one says so`() {
    let text = Array(UUIDBytes.random().description)
    #expect(text[14] == "4")
    #expect("89ab".contains(text[19]))
  }

  @Test(arguments: [
    "", "00000000-0000-0000-0000-00000000000", "00000000-0000-0000-0000-0000000000000",
    "00000000-0000-0000-0000-00000000000g",
    "00000000x0000-0000-0000-000000000000", "000000000000-0000-0000-0000-00000000",
    "{0000000-0000-0000-0000-000000000000",
    "0000000é-0000-0000-0000-00000000000",
  ])
  func `other text is none`(text: String) { #expect(UUIDBytes(text) == nil) }
}
