public import FeedStream

extension HTTPServer {
  /// Accepts no more connections, and completes the requests that have begun.
  ///
  /// Event streams end, and idle connections are closed. A client may send a request at that moment; it must send it again
  /// to another server. With a `grace`, that request is responded to, as are those of connections that wait to be accepted:
  /// each of these responses says `Connection: close`.
  ///
  /// **Demand:** begins at the call. **Failure:** never. Finishes when the last connection is closed. **Cancellation:**
  /// does not stop it. Policy: delivers nothing.
  ///
  /// - Parameters:
  ///   - deadline: the time after which remaining connections are closed; 10 s by default.
  ///   - grace: the time for which idle connections stay open for a last request; none by default.
  @discardableResult public func shutdown(
    within deadline: StreamInstant.Stride = .seconds(10), grace: StreamInstant.Stride = .zero
  ) -> AnyPublisher<Never, Never> {
    if !isEnding {
      isEnding = true
      if grace > .zero { beginGrace(of: grace) } else { stopListening() }
      closesIdle = grace <= .zero
      for connection in connections { connection.serverIsEnding() }
      if connections.isEmpty, !isListening {
        ended()
      } else {
        let left = scheduler.once(after: deadline) { [weak self] in self?.close() }
        whenEnded.append { left.cancel() }
      }
    }
    let future = Future<Void, Never> { [self] promise in
      if connections.isEmpty, !isListening { promise(.success(())) } else { whenEnded.append { promise(.success(())) } }
    }
    return future.ignoreOutput().eraseToAnyPublisher()
  }

  /// Accepts what waits in the backlog, and closes what is still idle when the time is over.
  private func beginGrace(of grace: StreamInstant.Stride) {
    // A turn looks for connections after its work, so that after the second one there are none left.
    scheduler.schedule { [weak self] in
      self?.scheduler.schedule { [weak self] in
        guard let self, isListening else { return }
        stopListening()
        if connections.isEmpty { ended() }
      }
    }
    let over = scheduler.once(after: grace) { [weak self] in
      guard let self else { return }
      closesIdle = true
      for connection in connections { connection.serverIsEnding() }
    }
    whenEnded.append { over.cancel() }
  }

  private func stopListening() {
    isListening = false
    for listener in listeners { listener.close() }
    subscription?.stopAccepting()
  }

  /// Stops listening and closes all connections immediately.
  public func close() {
    isEnding = true
    stopListening()
    closeConnections()
    ended()
  }

  func ended() {
    let (waiting, subscription) = (whenEnded, self.subscription)
    whenEnded = []
    subscription?.end()
    for action in waiting { action() }
  }
}
