public import FeedStream

extension HTTPServer {
  /// Stops accepting connections, and completes the requests that have begun.
  ///
  /// Event streams end, and idle connections are closed. If a client sends a request on an idle connection at that very
  /// moment, the request is lost, and the client must retry it on another server. With a grace period (`grace`), that
  /// request gets a response, and so do requests on connections that are waiting to be accepted or are being
  /// established. Each of these responses has `Connection: close`.
  ///
  /// During the grace period, attempts to connect are ignored on Linux; clients try again after a second, and reach
  /// whichever server is listening by then. Elsewhere, such attempts are refused. A connection that is accepted during
  /// the grace period gets a grace period of its own for its first request.
  ///
  /// **Demand:** begins when called. **Failure:** never. Finishes when the last connection is closed. **Cancellation:**
  /// does not stop the shutdown. **Policy:** delivers nothing.
  ///
  /// - Parameters:
  ///   - deadline: the time after which remaining connections are closed; 10 s by default. If this is called again, the
  ///     earliest deadline counts.
  ///   - grace: the time that idle connections stay open for one last request; zero by default.
  @discardableResult public func shutdown(
    within deadline: StreamInstant.Stride = .seconds(10), grace: StreamInstant.Stride = .zero
  ) -> AnyPublisher<Never, Never> {
    if !isEnding {
      isEnding = true
      if grace > .zero { beginGrace(of: grace) } else { stopListening() }
      closesIdle = grace <= .zero
      for connection in connections { connection.serverIsEnding() }
    }
    if connections.isEmpty, !isListening { ended() } else { later(deadline) { $0.close() } }
    let future = Future<Void, Never> { [self] promise in
      if connections.isEmpty, !isListening { promise(.success(())) } else { whenEnded.append { promise(.success(())) } }
    }
    return future.ignoreOutput().eraseToAnyPublisher()
  }

  /// Accepts connections that clients have begun to establish, and closes connections that are still idle after the
  /// grace period.
  private func beginGrace(of grace: StreamInstant.Stride) {
    // When listening ends, the system resets established connections that were not accepted, and their requests are
    // lost.
    let waitsForBegun = listeners.reduce(false) { $1.ignoreNewConnections() || $0 }
    if !waitsForBegun {
      afterInput {
        $0.stopListening()
        $0.endIfDone()
      }
    }
    later(grace) { server in
      server.afterInput { server in
        server.stopListening()
        server.closesIdle = true
        for connection in server.connections { connection.serverIsEnding() }
        server.endIfDone()
      }
    }
    later(grace + grace) { server in
      server.afterInput { server in
        server.closesUnused = true
        for connection in server.connections { connection.serverIsEnding() }
        server.endIfDone()
      }
    }
  }

  private func later(_ delay: StreamInstant.Stride, _ action: @escaping (HTTPServer) -> Void) {
    let timer = scheduler.once(after: delay) { [weak self] in self.map(action) }
    whenEnded.append { timer.cancel() }
  }

  /// Runs `action` after the loop has checked for connections and bytes again. Each turn checks after its work, so
  /// after the second turn, everything that was waiting when this was called has been handled.
  private func afterInput(_ action: @escaping (HTTPServer) -> Void) {
    scheduler.schedule { [weak self] in
      self?.scheduler.schedule { [weak self] in
        guard let self, isEnding else { return }
        action(self)
      }
    }
  }

  private func endIfDone() {
    if connections.isEmpty, !isListening { ended() }
  }

  private func stopListening() {
    guard isListening else { return }
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
