extension Publisher {
  /// Controls whether ``EventLoop/run(_:)`` keeps running while streams that are made during the subscription to
  /// upstream wait for a result from outside the loop.
  ///
  ///     upstream    --a--b--|
  ///     keepsLoopAlive(false)
  ///     downstream  --a--b--|
  ///
  ///     let changes = sockets.changes.publisher.keepsLoopAlive(false).sink { … }
  ///     loop.run()      // returns when everything else is done
  ///
  /// By default, the loop waits for `values` that no task has iterated yet, for an asynchronous sequence that is being
  /// awaited, for the tasks of `mapAsync`, for a future's task or promise, and for a `Create`'s sender. Timers are the
  /// loop's own work and are not affected. All events pass through.
  ///
  /// The setting covers everything that is made while upstream is subscribed to:
  ///
  /// - It doesn't cover a publisher that an operator above makes later, such as `flatMap`, `retry` or `append`, nor a
  ///   future that exists already. Write the operator below that publisher, or below a ``Deferred`` that makes the
  ///   future: `flatMap { id in Deferred { load(id) }.keepsLoopAlive(false) }`.
  /// - It also covers what the code below makes while it receives a value during the subscription, such as that of a
  ///   ``CurrentValueSubject``, or a value from outside the loop. If the loop must wait for such work, write
  ///   `.keepsLoopAlive(false).receive(on: loop)`: the values then arrive on a later turn, where the setting has ended.
  ///
  /// **Demand, failure, cancellation:** pass through. **Policy:** holds nothing.
  @inlinable public func keepsLoopAlive(_ keeps: Bool) -> Publishers.KeepsLoopAlive<Self> {
    Publishers.KeepsLoopAlive(upstream: self, keeps: keeps)
  }
}

extension Publishers {
  /// See ``Publisher/keepsLoopAlive(_:)``.
  public struct KeepsLoopAlive<Upstream: Publisher>: Operator, LoopKeeping {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let keeps: Bool

    @inlinable public init(upstream: Upstream, keeps: Bool) {
      self.upstream = upstream
      self.keeps = keeps
    }

    /// Subscribes `subscriber` directly to upstream: only streams that are set up during this call, or by values that
    /// these streams bring from outside the loop, are affected.
    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      attach { upstream.receive(subscriber: subscriber) }
    }

    @usableFromInline func attach(_ subscribe: () -> Void) {
      if !keeps { SubscriptionWatch.isNotWaitedFor() }
      Home.$isKeeping.withValue(keeps, operation: subscribe)
    }
  }
}

/// A publisher that decides whether its loop waits for it.
@usableFromInline protocol LoopKeeping {
  var keeps: Bool { get }
}

extension Publishers.KeepsLoopAlive: Equatable where Upstream: Equatable {}
