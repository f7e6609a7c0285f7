extension Publisher {
  /// Shares one subscription to this publisher among all subscribers.
  ///
  ///     upstream           --1--2--3--|
  ///     first subscriber   --1--2--3--|
  ///     second subscriber      -2--3--|
  ///
  /// The same as `multicast` through a ``PassthroughSubject`` with `autoconnect`. **Demand:** requests everything from
  /// upstream once a subscriber requests anything. **Policy:** drops values that a subscriber has not requested, and
  /// reports them. **Failure:** passes through; later subscribers receive the completion. **Cancellation:** when the
  /// last subscriber cancels, upstream is cancelled.
  @inlinable public func share() -> Publishers.Share<Self> { Publishers.Share(upstream: self) }

  /// Shares one subscription to this publisher among all subscribers; later subscribers receive the last `count` values
  /// first.
  ///
  ///     upstream           --1--2--3--|
  ///     share(replay: 1)
  ///     first subscriber   --1--2--3--|
  ///     second subscriber         23--|
  ///
  /// The same as `multicast` through a ``ReplaySubject`` with `autoconnect`; the kept values outlive the last
  /// subscriber. **Demand:** everything is requested from upstream once a subscriber requests anything. **Policy:** a
  /// subscriber that requests too slowly misses values older than the last `count`. **Failure:** passes through, after
  /// the kept values. **Cancellation:** when the last subscriber cancels, upstream is cancelled.
  ///
  /// - Precondition: `count` is not negative.
  public func share(replay count: Int)
    -> Publishers.Autoconnect<
      Publishers.Multicast<Self, ReplaySubject<Output, Failure>>
    >
  {
    precondition(count >= 0, "share(replay: \(count)): the number of values cannot be negative; use 0 or more")
    return multicast(subject: ReplaySubject(count: count)).autoconnect()
  }
}

extension Publishers {
  /// See ``Publisher/share()``.
  public final class Share<Upstream: Publisher>: Publisher, Equatable, _JoinsPublishers {
    public typealias Output = Upstream.Output
    public typealias Failure = Upstream.Failure

    public let upstream: Upstream
    @usableFromInline let shared: Autoconnect<Multicast<Upstream, PassthroughSubject<Output, Failure>>>

    @inlinable public init(upstream: Upstream) {
      self.upstream = upstream
      shared = upstream.multicast(subject: PassthroughSubject(of: "Share")).autoconnect()
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      shared.receive(subscriber: subscriber)
    }

    /// True when both are the same object: shares are compared by identity.
    @inlinable public static func == (lhs: Share, rhs: Share) -> Bool { lhs === rhs }
  }
}
