/// Which of the pending changes reached the medium before the power went.
///
/// Atoms are counted in the order of ``DiskImage/pendingAtoms``, oldest first. Two rules hold under every policy, as they
/// do on a disk: a block kept is kept with all that was written to it before, and a kept change of a file's size keeps the
/// cuts that came before it.
public indirect enum PowerLossPolicy: Sendable {
  /// Only what was synced.
  case dropAll
  /// Everything, as if the cache had been written back just in time.
  case keepAll
  /// Atom i is kept if flag i is set; missing flags are false.
  case keep([Bool])
  /// Atom i is kept if bit i is set, for up to 64 atoms.
  case keepMask(UInt64)
  /// Each atom by a coin whose bias is drawn from the seed as well, so that nearly all and nearly none come up too.
  case random(seed: UInt64)
  /// Written back in order, cut off after so many.
  case keepFirst(Int)
  /// Written back in reverse order, cut off after so many.
  case keepLast(Int)
  /// All but one.
  case dropOnly(Int)
  /// One alone.
  case keepOnly(Int)
  /// One block was being written: its changed bytes from byte `at` of the block on are not the new ones. What the write
  /// did not touch stays as it is, for the medium does not damage bytes it rewrites.
  case torn(atom: Int, at: Int, behind: TornFill, others: PowerLossPolicy)

  /// What stands behind the cut of a torn block.
  public enum TornFill: Sendable, Hashable {
    case zeros
    /// What the medium held before.
    case old
    /// 0xFF, as erased flash reads.
    case ones
    case random(seed: UInt64)
  }

  /// One flag an atom.
  func flags(count: Int) -> [Bool] {
    switch self {
    case .dropAll: return [Bool](repeating: false, count: count)
    case .keepAll: return [Bool](repeating: true, count: count)
    case .keep(let flags): return (0..<count).map { $0 < flags.count && flags[$0] }
    case .keepMask(let mask): return (0..<count).map { $0 < 64 && mask & (1 << UInt64($0)) != 0 }
    case .random(let seed):
      var generator = SeededGenerator(seed: seed)
      let bias = UInt64.random(in: 1...15, using: &generator)
      return (0..<count).map { _ in UInt64.random(in: 0..<16, using: &generator) < bias }
    case .keepFirst(let kept): return (0..<count).map { $0 < kept }
    case .keepLast(let kept): return (0..<count).map { $0 >= count - kept }
    case .dropOnly(let atom): return (0..<count).map { $0 != atom }
    case .keepOnly(let atom): return (0..<count).map { $0 == atom }
    case .torn(let atom, _, _, let others):
      var flags = others.flags(count: count)
      if atom < count { flags[atom] = true }
      return flags
    }
  }
}
