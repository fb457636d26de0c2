internal import Glibc

/// The rows of the current bench, made once. Holds one size at a time: 10 M rows take 1.7 GB.
enum CorpusCache {
  private static let cell = Cell()

  static func rows(_ count: Int) -> RowCorpus { corpus(CorpusShape(range: 0..<count)) }

  static func corpus(_ shape: CorpusShape) -> RowCorpus { cell.corpus(shape) }

  private final class Cell: @unchecked Sendable {
    // Sendable: `corpus` is touched under the lock only.
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private var corpus: RowCorpus?

    init() {
      lock = .allocate(capacity: 1)
      pthread_mutex_init(lock, nil)
    }

    func corpus(_ shape: CorpusShape) -> RowCorpus {
      pthread_mutex_lock(lock)
      defer { pthread_mutex_unlock(lock) }
      if let corpus, corpus.shape == shape { return corpus }
      corpus = nil
      let made = RowCorpus(shape, seed: Site.seed)
      corpus = made
      return made
    }
  }
}
