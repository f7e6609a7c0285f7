extension Publisher {
  /// Shares one subscription to this publisher among all subscribers, and begins another when what is named has
  /// happened.
  ///
  ///     upstream           --1--#
  ///     share(resetOnError: true)
  ///     first subscriber   --1--#
  ///     later subscriber          --1--#
  ///
  /// As ``Publisher/share()``, which is all defaults. A reset is for who subscribes after it: the subscribers there are
  /// keep what they have. A subscriber that comes within the ending, as `retry` does, comes after the reset.
  ///
  /// **Demand:** upstream is asked for everything once a subscriber asks for anything. **Policy:** drops what a
  /// subscriber has not asked for, and what arrives when nobody is subscribed, and reports it. **Failure:** passes
  /// through; who comes after an ending receives the ending, or with a reset another subscription. **Cancellation:**
  /// the last subscriber's cancels upstream; without `resetOnRefCountZero`, upstream runs on as long as this publisher
  /// is kept, or anybody is subscribed.
  ///
  /// - Parameters:
  ///   - resetOnError: whether who comes after a failure subscribes to upstream anew.
  ///   - resetOnComplete: whether who comes after upstream has finished subscribes to it anew.
  ///   - resetOnRefCountZero: whether the last subscriber's cancellation cancels upstream.
  public func share(
    resetOnError: Bool = false, resetOnComplete: Bool = false, resetOnRefCountZero: Bool = true
  ) -> Publishers.ShareResetting<Self> {
    Publishers.ShareResetting(
      upstream: self, resetOnError: resetOnError, resetOnComplete: resetOnComplete,
      resetOnRefCountZero: resetOnRefCountZero)
  }
}

extension Publishers {
  /// See ``Publisher/share(resetOnError:resetOnComplete:resetOnRefCountZero:)``.
  public final class ShareResetting<Upstream: Publisher>: Publisher, Equatable {
    public typealias Output = Upstream.Output
    public typealias Failure = Upstream.Failure
    private typealias Round = Autoconnect<Multicast<HandleEvents<Upstream>, PassthroughSubject<Output, Failure>>>

    public let upstream: Upstream
    public let resetOnError: Bool
    public let resetOnComplete: Bool
    public let resetOnRefCountZero: Bool

    /// One subscription to upstream, until a reset.
    private var round: Round?

    public init(upstream: Upstream, resetOnError: Bool, resetOnComplete: Bool, resetOnRefCountZero: Bool) {
      self.upstream = upstream
      self.resetOnError = resetOnError
      self.resetOnComplete = resetOnComplete
      self.resetOnRefCountZero = resetOnRefCountZero
    }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let round = self.round ?? newRound()
      self.round = round
      round.receive(subscriber: subscriber)
    }

    private func newRound() -> Round {
      let round = upstream.handleEvents(receiveCompletion: { [weak self] in self?.reset(after: $0) })
        .multicast(subject: PassthroughSubject(of: "Share")).autoconnect()
      // Counted as a subscriber that never leaves.
      if !resetOnRefCountZero { round.add() }
      return round
    }

    /// Runs before anybody receives the ending, and may thereby come back.
    private func reset(after completion: Subscribers.Completion<Failure>) {
      switch completion {
      case .finished: if resetOnComplete { round = nil }
      case .failure: if resetOnError { round = nil }
      }
    }

    /// Whether the two are one: a share is a thing, not a value.
    public static func == (lhs: ShareResetting, rhs: ShareResetting) -> Bool { lhs === rhs }
  }
}
