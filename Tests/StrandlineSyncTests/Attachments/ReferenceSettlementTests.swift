import StrandlineProtocol
import Testing

@testable import StrandlineSync

struct ReferenceSettlementTests {
  private func settlement(
    _ state: AttachmentState = .synced, known: Bool = true, owner: String? = "u", store: String? = "u"
  ) -> ReferenceSettlement {
    ReferenceSettlement(state, isKnownFromServer: known, referenceOwner: owner, storeOwner: store)
  }

  @Test(arguments: [AttachmentState.queued, .uploading, .downloading, .synced, .failed])
  func `an own object that the server gave up is orphaned`(state: AttachmentState) {
    #expect(settlement(state) == .orphan)
  }

  @Test func `everything else is evicted`() {
    #expect(settlement(known: false) == .evict)
    #expect(settlement(owner: "other") == .evict)
    #expect(settlement(owner: nil) == .evict)
    #expect(settlement(store: nil) == .evict)
    #expect(settlement(owner: nil, store: nil) == .evict)
  }

  @Test func `what was decided stays`() {
    #expect(settlement(.orphaned) == .keep)
    #expect(settlement(.evicted) == .keep)
  }

  @Test func `the owner stands in front of the first slash`() {
    #expect(AttachmentReference("u/p/f.jpg")?.owner == "u")
    #expect(AttachmentReference("nobody")?.owner == nil)
    #expect(AttachmentReference("/p/f.jpg")?.owner == nil)
    #expect(AttachmentReference("") == nil)
    #expect(AttachmentReference(String(repeating: "r", count: 481)) == nil)
  }
}
