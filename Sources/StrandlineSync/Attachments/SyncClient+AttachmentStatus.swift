internal import StrandlineProtocol

extension SyncClient {
  /// How a file stands; nil: there is no such file.
  ///
  /// - Throws: ``SyncErrorCode/store`` or ``SyncErrorCode/json`` for a row that does not decode, ``SyncErrorCode/engineUnavailable``.
  public func getStatus(_ reference: String) async throws -> AttachmentStatus? {
    try read { try $0.attachment(reference).map { AttachmentStatus($0) } }
  }

  /// Tells `handler` how a file stands: now, and behind each step that was taken with it, and each ``sync()``.
  ///
  /// Called where events are delivered, one after the other. What it is told is true when it is told; a file that is not there is
  /// ``AttachmentState/missing``. A reset does not end it.
  ///
  /// - Returns: ends the watch; may be called from anywhere, and again.
  @discardableResult
  public func watch(
    _ reference: String, _ handler: @escaping @Sendable (AttachmentStatus) -> Void
  ) -> @Sendable () -> Void {
    let number = withMemory { memory in
      defer { memory.nextWatcher += 1 }
      let number = memory.nextWatcher
      if !memory.isClosed { memory.watchers[number] = AttachmentWatcher(reference: reference, handler: handler) }
      return number
    }
    tell(number)
    return { [weak self] in self?.withMemory { $0.watchers[number] = nil } }
  }

  /// Tells who watches a file; nil: any file.
  func tellWatchers(of reference: String?) {
    let numbers = withMemory { memory in
      memory.watchers.filter { reference == nil || $0.value.reference == reference }.keys.sorted()
    }
    for number in numbers { tell(number) }
  }

  private func tell(_ number: Int) {
    delivery.call { [weak self] in
      // Looked at when it is told, so that nothing old comes behind something new.
      guard let self, let watcher = self.withMemory({ $0.watchers[number] }),
        let file = try? self.read({ try $0.attachment(watcher.reference) }).map({ AttachmentStatus($0) })
          ?? AttachmentStatus(state: .missing)
      else { return }
      watcher.handler(file)
    }
  }

  /// Queues a file anew, whatever it failed with and however often. Bytes in flight go on.
  ///
  /// - Returns: whether there is such a file.
  /// - Throws: ``SyncErrorCode/store``, ``SyncErrorCode/engineUnavailable``; so do the next.
  @discardableResult
  public func attachmentRetry(_ reference: String) async throws -> Bool {
    try await step(reference) { $0.retry() }
  }

  /// Shows a file as failed. Bytes in flight go on, and a later ``sync()`` tries again.
  ///
  /// - Returns: whether there is such a file.
  @discardableResult
  public func attachmentCancel(_ reference: String) async throws -> Bool {
    try await step(reference) { $0.cancel() }
  }

  /// Takes a file out of the queue. The row that names it, and the object on the storage, stay.
  ///
  /// - Returns: the path of the bytes here, the caller's to delete unless another file shares it; nil: there is no such file, or no bytes.
  @discardableResult
  public func attachmentRemove(_ reference: String) async throws -> String? {
    let (path, isRemoved) = try await commit(.attachmentStep) { state in
      let path = try state.attachment(reference)?.localPath
      return (path, try state.removeAttachment(reference))
    }
    if isRemoved { tellWatchers(of: reference) }
    return path
  }
}

/// Somebody who is told how a file stands.
struct AttachmentWatcher: Sendable {
  var reference: String
  var handler: @Sendable (AttachmentStatus) -> Void
}
