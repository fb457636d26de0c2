extension DiskImage {
  /// The disk as the machine finds it when the power is back: the chosen changes are durable, all others never were.
  public func powerLoss(keeping policy: PowerLossPolicy) -> DiskImage {
    let pending = pendingAtoms
    var isKept: [Int: Bool] = [:]
    for (atom, flag) in zip(pending, policy.flags(count: pending.count)) { isKept[atom.number] = flag }
    var tear: Tear?
    if case .torn(let atom, let cut, let fill, _) = policy, atom < pending.count {
      tear = Tear(number: pending[atom].number, cut: cut, fill: fill)
    }

    var image = self
    for number in image.inodes.indices where image.inodes[number] != nil {
      image.inodes[number]!.losePower(isKept, tear)
    }
    image.forgetUnreachable()
    return image
  }

  /// The number of policies that matter for one torn block: bytes at which atom `index` of ``pendingAtoms`` can be cut.
  public func tearableBytes(ofAtom index: Int) -> Range<Int>? {
    let atoms = pendingAtoms
    guard index < atoms.count, case .content(_, let changed) = atoms[index].change else { return nil }
    return changed
  }

  struct Tear {
    let number: Int
    let cut: Int
    let fill: PowerLossPolicy.TornFill

    /// `page` with the changed bytes behind the cut replaced.
    func applied(to page: FileContent.Page, changed: Range<Int>, old: FileContent.Page?) -> FileContent.Page {
      var page = page
      var generator = SeededGenerator(seed: 0)
      if case .random(let seed) = fill { generator = SeededGenerator(seed: seed) }
      for byte in max(changed.lowerBound, min(cut, changed.upperBound))..<changed.upperBound {
        switch fill {
        case .zeros: page[byte] = 0
        case .old: page[byte] = old?[byte] ?? 0
        case .ones: page[byte] = 0xFF
        case .random: page[byte] = UInt8.random(in: 0...255, using: &generator)
        }
      }
      return page
    }
  }

  /// Durable names alone count from here on; link counts follow them.
  private mutating func forgetUnreachable() {
    var linkCounts: [UInt64: UInt64] = [Self.rootNumber: 1]
    var queue = [Self.rootNumber]
    while let number = queue.popLast() {
      for target in inode(number).entries.values {
        linkCounts[target, default: 0] += 1
        if linkCounts[target] == 1, inode(target).kind == .directory { queue.append(target) }
      }
    }
    for number in inodes.indices where inodes[number] != nil {
      if let count = linkCounts[UInt64(number)] { inodes[number]!.linkCount = count } else { inodes[number] = nil }
    }
  }
}

extension DiskImage.Inode {
  fileprivate mutating func losePower(_ isKept: [Int: Bool], _ tear: DiskImage.Tear?) {
    // A file system frees blocks in order: a size that is kept keeps the cuts in front of it.
    let lastKeptSize = pending.last { atom in
      if case .size = atom.change { isKept[atom.number] == true } else { false }
    }
    for atom in pending {
      switch atom.change {
      case .block(let block, let page, let changed) where atom.number == tear?.number:
        let torn = tear!.applied(to: page, changed: changed, old: durableContent.page(block))
        apply(.block(block, torn, changed: changed))
      case .size(_, isCut: true) where atom.number < lastKeptSize?.number ?? -1: apply(atom.change)
      case .block, .size, .name, .rename:
        if isKept[atom.number] == true { apply(atom.change) }
      }
    }
    pending = []
    lostBlocks = []
    durableContent.trim()
    content = durableContent
    entries = durableEntries
  }
}
