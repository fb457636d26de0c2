internal import CStrandline
internal import Synchronization

/// A 32-bit word that threads sleep on: one system call wakes all of them, and none takes a lock on its way out.
///
/// A group of committers waits for one sync. With a mutex and condition each of 64 woken threads would queue for the mutex
/// again; evidence in Docs/Benchmarks.md, "append.synced.64writers".
final class WakeWord: Sendable {
  private let word = Atomic<UInt32>(0)

  var value: UInt32 { word.load(ordering: .acquiring) }

  /// Sets the word and wakes up to `count` sleepers.
  func set(_ value: UInt32, waking count: Int32) {
    word.store(value, ordering: .releasing)
    if count > 0 { strandline_futex_wake(address, count) }
  }

  /// Replaces `expected` by `desired` if it still stands there.
  func exchange(_ expected: UInt32, for desired: UInt32) -> Bool {
    word.compareExchange(expected: expected, desired: desired, ordering: .acquiringAndReleasing).exchanged
  }

  /// Sleeps while the word is `value`. May return early.
  func sleep(while value: UInt32) { _ = strandline_futex_wait(address, value, -1) }

  // `Atomic<UInt32>` is one aligned 32-bit word at a fixed place of this object, and the kernel asks for no more than that.
  private var address: UnsafePointer<UInt32> {
    withUnsafePointer(to: word) { UnsafeRawPointer($0).assumingMemoryBound(to: UInt32.self) }
  }
}
