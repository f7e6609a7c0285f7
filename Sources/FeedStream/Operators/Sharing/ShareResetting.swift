extension Publisher {
  /// Shares one subscription to this publisher among all subscribers, and begins a new one after the chosen events.
  ///
  ///     upstream           --1--#
  ///     share(resetOnError: true)
  ///     first subscriber   --1--#
  ///     later subscriber          --1--#
  ///
  /// With all defaults, this is ``Publisher/share()``. A reset affects only later subscribers: current ones keep their
  /// subscription. A subscriber that attaches during the completion, as `retry` does, attaches after the reset.
  ///
  /// **Demand:** everything is requested from upstream once a subscriber requests anything. **Policy:** drops values
  /// that a subscriber has not requested, and values that arrive while there are no subscribers, and reports them.
  /// **Failure:** passes through; later subscribers receive the completion or, after a reset, share another
  /// subscription. **Cancellation:** when the last subscriber cancels, upstream is cancelled; without
  /// `resetOnRefCountZero`, upstream continues as long as this publisher is retained or has a subscriber.
  ///
  /// - Parameters:
  ///   - resetOnError: true to subscribe to upstream again for subscribers that attach after a failure.
  ///   - resetOnComplete: true to subscribe to upstream again for subscribers that attach after upstream has finished.
  ///   - resetOnRefCountZero: true to cancel upstream when the last subscriber cancels.
  @inlinable public func share(
    resetOnError: Bool = false, resetOnComplete: Bool = false, resetOnRefCountZero: Bool = true
  ) -> Publishers.ShareResetting<Self> {
    Publishers.ShareResetting(
      upstream: self, resetOnError: resetOnError, resetOnComplete: resetOnComplete,
      resetOnRefCountZero: resetOnRefCountZero)
  }
}

extension Publishers {
  /// See ``Publisher/share(resetOnError:resetOnComplete:resetOnRefCountZero:)``.
  public final class ShareResetting<Upstream: Publisher>: Publisher, Equatable, _JoinsPublishers {
    public typealias Output = Upstream.Output
    public typealias Failure = Upstream.Failure
    @usableFromInline typealias Round = Autoconnect<
      Multicast<HandleEvents<Upstream>, PassthroughSubject<Output, Failure>>
    >

    public let upstream: Upstream
    public let resetOnError: Bool
    public let resetOnComplete: Bool
    public let resetOnRefCountZero: Bool

    /// The shared subscription to upstream, until a reset.
    @usableFromInline var round: Round?

    @inlinable public init(upstream: Upstream, resetOnError: Bool, resetOnComplete: Bool, resetOnRefCountZero: Bool) {
      self.upstream = upstream
      self.resetOnError = resetOnError
      self.resetOnComplete = resetOnComplete
      self.resetOnRefCountZero = resetOnRefCountZero
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let round = self.round ?? newRound()
      self.round = round
      round.receive(subscriber: subscriber)
    }

    @inlinable func newRound() -> Round {
      let round = upstream.handleEvents(receiveCompletion: { [weak self] in self?.reset(after: $0) })
        .multicast(subject: PassthroughSubject(of: "Share")).autoconnect()
      // Count one more subscriber, which never cancels.
      if !resetOnRefCountZero { round.add() }
      return round
    }

    /// Called before any subscriber receives the completion. Releasing the round may call back into this publisher.
    @usableFromInline func reset(after completion: Subscribers.Completion<Failure>) {
      switch completion {
      case .finished: if resetOnComplete { round = nil }
      case .failure: if resetOnError { round = nil }
      }
    }

    /// True when both are the same object: shares are compared by identity.
    public static func == (lhs: ShareResetting, rhs: ShareResetting) -> Bool { lhs === rhs }
  }
}
