import StrandlineProtocol
import Testing

@testable import StrandlineSync

struct TransferEffectTests {
  private static func failed(
    _ code: SyncErrorCode, permanently: Bool = false, dropsSession: Bool = false
  ) -> TransferEffect {
    .fail(code, permanently: permanently, dropsSession: dropsSession)
  }

  @Test(arguments: [TransferFailure.Kind.refused(status: 401), .noSession])
  func `without a session an upload is released`(kind: TransferFailure.Kind) {
    #expect(TransferEffect(upload: kind) == .release)
  }

  @Test(
    arguments: [
      TransferFailure.Kind.unreachable, .refused(status: 403), .refused(status: 409), .refused(status: 423),
      .refused(status: 500), .refused(status: 502), .refused(status: 503), .refused(status: 599),
    ])
  func `what may pass fails and is tried again`(kind: TransferFailure.Kind) {
    #expect(TransferEffect(upload: kind) == Self.failed(.transfer))
  }

  @Test(arguments: [400, 402, 404, 410, 413, 415, 422, 429, 499])
  func `every other refusal of the request is for good`(status: Int) {
    #expect(TransferEffect(upload: .refused(status: status)) == Self.failed(.transfer, permanently: true))
  }

  @Test func `a lost session is dropped and a deadline keeps it`() {
    #expect(TransferEffect(upload: .sessionLost) == Self.failed(.attachmentUploadExpired, dropsSession: true))
    #expect(TransferEffect(upload: .deadline) == Self.failed(.attachmentTransferTimeout))
  }

  @Test func `a download that is not there yet is queued again`() {
    #expect(TransferEffect(download: .refused(status: 404)) == .postpone(.attachmentNotYetAvailable))
    #expect(TransferEffect(download: .refused(status: 401)) == .release)
    #expect(TransferEffect(download: .refused(status: 403)) == Self.failed(.transfer))
  }

  @Test(arguments: [TransferFailure.Kind.refused(status: 400), .refused(status: 401), .unreachable])
  func `a confirmation that fails is tried again`(kind: TransferFailure.Kind) {
    #expect(TransferEffect(confirmation: kind) == Self.failed(.transfer))
  }

  @Test func `a deletion that is refused becomes an eviction`() {
    #expect(DeletionEffect(.refused(status: 401)) == .evict)
    #expect(DeletionEffect(.refused(status: 403)) == .evict)
    #expect(DeletionEffect(.refused(status: 404)) == .done)
    #expect(DeletionEffect(.refused(status: 500)) == .keep)
    #expect(DeletionEffect(.unreachable) == .keep)
  }

  @Test(
    arguments: [
      ("image/jpeg", "jpg"), ("image/png", "png"), ("image/webp", "webp"), ("image/gif", "gif"), ("image/heic", "heic"),
      ("application/pdf", "pdf"), ("IMAGE/PNG; q=1", "png"), ("text/plain", "bin"), ("", "bin"),
    ])
  func `a media type has one ending`(mediaType: String, ending: String) {
    #expect(MediaType.fileExtension(of: mediaType) == ending)
  }
}
