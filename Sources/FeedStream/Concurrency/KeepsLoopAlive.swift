extension Publisher {
  /// Says whether what the streams above wait for outside the loop keeps ``EventLoop/run(_:)`` from returning.
  ///
  ///     upstream    --a--b--|
  ///     keepsLoopAlive(false)
  ///     downstream  --a--b--|
  ///
  ///     let changes = sockets.changes.publisher.keepsLoopAlive(false).sink { … }
  ///     loop.run()      // returns when everything else is done
  ///
  /// By default it does: an asynchronous sequence that is awaited, the tasks of `mapAsync`, a future's task or promise,
  /// a `Create`'s sender. Timers are the loop's own work and are not meant. Passes everything on.
  ///
  /// **Demand, failure, cancellation:** pass through. **Policy:** holds nothing.
  public func keepsLoopAlive(_ keeps: Bool) -> Publishers.KeepsLoopAlive<Self> {
    Publishers.KeepsLoopAlive(upstream: self, keeps: keeps)
  }
}

extension Publishers {
  /// See ``Publisher/keepsLoopAlive(_:)``.
  public struct KeepsLoopAlive<Upstream: Publisher>: Publisher {
    public typealias Output = Upstream.Output
    public typealias Failure = Upstream.Failure

    public let upstream: Upstream
    public let keeps: Bool

    public init(upstream: Upstream, keeps: Bool) {
      self.upstream = upstream
      self.keeps = keeps
    }

    /// The subscriber subscribes to upstream itself: only what is set up within the call differs.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      StreamHome.$isKeeping.withValue(keeps) { upstream.receive(subscriber: subscriber) }
    }
  }
}

extension Publishers.KeepsLoopAlive: Equatable where Upstream: Equatable {}
