extension Publisher {
  /// Subscribes again when the publisher returned by `handler` delivers a value.
  ///
  ///     upstream    -a-#
  ///     handler's   --------x
  ///     upstream            -a-b|
  ///     retry(when:)
  ///     downstream  -a-------a-b|
  ///
  /// `handler` is called once for each subscriber, with a publisher of the failures; for example,
  /// `{ errors in errors.delay(for: 1, scheduler: loop) }` retries 1 s after each failure. The publisher that `handler`
  /// returns is subscribed to before upstream, and one value is requested from it after each failure. Once the handler's
  /// publisher has subscribed to the failures, each of them is kept until it is requested. When that publisher
  /// completes, the stream immediately completes in the same way. But if its last value triggers a subscription, the
  /// stream completes only after subscribing, so that values arrive from a source that delivers while it is being
  /// subscribed to.
  ///
  /// **Demand:** each new subscription receives the outstanding demand. **Failure:** a failure of `handler`'s
  /// publisher. **Cancellation:** cancels upstream and `handler`'s publisher. **Policy:** forwards.
  ///
  /// - Parameter handler: receives a publisher of the failures and returns the publisher that triggers the retries.
  @inlinable public func retry<P: Publisher>(
    when handler: @escaping (AnyPublisher<Failure, Never>) -> P
  ) -> Publishers.RetryWhen<Self, P> {
    Publishers.RetryWhen(upstream: self, handler: handler)
  }
}

extension Publishers {
  /// See ``Publisher/retry(when:)``.
  public struct RetryWhen<Upstream: Publisher, Signal: Publisher>: Operator, _JoinsPublishers {
    public typealias Output = Upstream.Output
    public typealias Failure = Signal.Failure

    public let upstream: Upstream
    public let handler: (AnyPublisher<Upstream.Failure, Never>) -> Signal

    @inlinable public init(upstream: Upstream, handler: @escaping (AnyPublisher<Upstream.Failure, Never>) -> Signal) {
      self.upstream = upstream
      self.handler = handler
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let stage = RetryWhenStage<Output, Upstream.Failure, Failure>(ErasedSubscriber(subscriber)) { [upstream] in
        upstream.receive(subscriber: $0)
      }
      subscriber.receive(subscription: stage)
      guard stage.isActive else { return }
      stage.signal.start(handler(stage.failures.eraseToAnyPublisher()))
      stage.start()
    }
  }
}

@usableFromInline
final class RetryWhenStage<Output, UpstreamFailure: Error, Failure: Error>: SequentialStage<Output, Failure> {
  private let errors = PassthroughSubject<UpstreamFailure, Never>(of: "RetryWhen")
  @exclusivity(unchecked) @usableFromInline private(set) var signal: Trigger<Failure>!
  private let attach: (RetryWhenUpstream<Output, UpstreamFailure, Failure>) -> Void
  /// The signal's completion, while the subscription that its last value triggered is pending.
  @exclusivity(unchecked) private var ending: Subscribers.Completion<Failure>?
  @exclusivity(unchecked) private var attempts = FailedAttempts()

  /// The failures for the handler. Held until they are requested: below a queue, a request arrives later than the
  /// failure that causes it.
  @usableFromInline var failures: Publishers.Buffer<PassthroughSubject<UpstreamFailure, Never>> {
    errors.buffer(size: .max, prefetch: .byRequest, whenFull: .dropNewest)
  }

  @usableFromInline init(
    _ down: ErasedSubscriber<Output, Failure>,
    attach: @escaping (RetryWhenUpstream<Output, UpstreamFailure, Failure>) -> Void
  ) {
    self.attach = attach
    super.init("RetryWhen", down)
    signal = Trigger(
      "RetryWhen", gate, asking: .none, fired: { [self] in start() }, ended: { [self] in signalEnded($0) })
  }

  @usableFromInline func start() {
    subscribe { [self] in
      attach(RetryWhenUpstream(stage: self, downstream: $0))
      if upcoming == nil, let ending { end(ending) }
    }
  }

  /// Completes the stream, after the pending subscription if there is one.
  private func signalEnded(_ completion: Subscribers.Completion<Failure>) {
    if upcoming == nil { end(completion) } else { ending = completion }
  }

  fileprivate func failed(_ error: UpstreamFailure) {
    attempts.note(error)
    signal.request(.max(1))
    errors.send(error)
  }

  override func cancelUpstreams() {
    super.cancelUpstreams()
    signal.cancel()
  }

  @usableFromInline override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    facts.upstreams += signal.visible
    (facts.note, facts.reasonAbove) = (attempts.text, attempts.text)
  }
}

/// Takes failures out of the stream and passes everything else on to the stage.
@usableFromInline struct RetryWhenUpstream<Output, UpstreamFailure: Error, SignalFailure: Error>: FusedStage {
  @usableFromInline typealias Input = Output
  @usableFromInline typealias Failure = UpstreamFailure

  @usableFromInline let stage: RetryWhenStage<Output, UpstreamFailure, SignalFailure>
  @usableFromInline let downstream: Inlet<SequentialPort<Output, SignalFailure>>

  @inlinable func receive(_ input: Output) -> Subscribers.Demand { downstream.receive(input) }

  @usableFromInline func receive(completion: Subscribers.Completion<UpstreamFailure>) {
    switch completion {
    case .finished: downstream.receive(completion: .finished)
    case .failure(let error):
      downstream.handleLast { [stage, downstream] in
        guard downstream.isLive else { return }
        downstream.close()
        stage.failed(error)
      }
    }
  }
}
