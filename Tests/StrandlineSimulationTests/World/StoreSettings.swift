import Strandline
import StrandlineLog
import StrandlineTestSupport

/// How every store of a simulation is run: nothing in the background, and nothing that a seed does not decide.
enum StoreSettings {
  static func options(_ disk: any FileSystem, _ clock: ManualClock, _ bits: SeededBits) -> StoreOptions {
    var options = StoreOptions()
    options.compactsInBackground = false
    options.memoryLayerByteCountMax = 1 << 30
    options.log.helpers = .callerRuns
    options.log.idleMarkInterval = nil
    options.log.spaceAheadByteCount = 64 << 10
    options.log.segmentByteCountMax = 32 << 10
    options.log.replayThreadCount = 1
    // Sizes must not depend on the order of members in a dictionary.
    options.log.compresses = false
    options.log.environment = Environment(fileSystem: disk, clock: clock, randomBits: { bits.next() })
    return options
  }
}
