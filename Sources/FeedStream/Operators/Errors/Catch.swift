extension Publisher {
  /// Continues with another publisher when this one fails.
  ///
  ///     upstream    --a--b--#
  ///     fallback            --x--y--|
  ///     catch { _ in fallback }
  ///     downstream  --a--b----x--y--|
  ///
  /// ![catch { _ in other }](marbles-catch.svg)
  ///
  /// **Demand:** the outstanding demand is passed on to the other publisher. **Failure:** passes through from the other
  /// publisher. **Cancellation:** cancels the publisher that is delivering. **Policy:** forwards.
  ///
  /// - Parameter handler: receives the error and returns the other publisher.
  @inlinable public func `catch`<P: Publisher>(
    _ handler: @escaping (Failure) -> P
  ) -> Publishers.Catch<Self, P> where P.Output == Output {
    Publishers.Catch(upstream: self, handler: handler)
  }

  /// Continues with another publisher when this one fails, or fails with the error that `handler` throws.
  ///
  ///     upstream    --a--b--#
  ///     tryCatch { throw Worse($0) }
  ///     downstream  --a--b--#    (Worse)
  ///
  /// **Demand:** the outstanding demand is passed on to the other publisher. **Failure:** the other publisher's
  /// failure, or the thrown error. **Cancellation:** cancels the publisher that is delivering. **Policy:** forwards.
  ///
  /// - Parameter handler: receives the error and returns the other publisher, or throws.
  @inlinable public func tryCatch<P: Publisher>(
    _ handler: @escaping (Failure) throws -> P
  ) -> Publishers.TryCatch<Self, P> where P.Output == Output {
    Publishers.TryCatch(upstream: self, handler: handler)
  }
}

extension Publishers {
  /// See ``Publisher/catch(_:)``.
  public typealias Catch<Upstream: Publisher, NewPublisher: Publisher> = Catching<
    Upstream, NewPublisher, NonThrowing<NewPublisher.Failure>
  > where Upstream.Output == NewPublisher.Output
  /// See ``Publisher/tryCatch(_:)``.
  public typealias TryCatch<Upstream: Publisher, NewPublisher: Publisher> = Catching<
    Upstream, NewPublisher, Throwing<NewPublisher.Failure>
  > where Upstream.Output == NewPublisher.Output

  /// The type that ``Catch`` and ``TryCatch`` share.
  @frozen
  public struct Catching<Upstream: Publisher, NewPublisher: Publisher, Mode: FailureMode<NewPublisher.Failure>>:
    Operator, _JoinsPublishers
  where Upstream.Output == NewPublisher.Output {
    public typealias Output = Upstream.Output
    public typealias Failure = Mode.Failure
    public typealias Handler = (Upstream.Failure) throws(Mode.RuleError) -> NewPublisher

    public let upstream: Upstream
    public let handler: Handler

    @inlinable public init(upstream: Upstream, handler: @escaping Handler) {
      self.upstream = upstream
      self.handler = handler
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let stage = CatchStage<Output, Upstream.Failure, Mode>(ErasedSubscriber(subscriber)) {
        [handler] (error: Upstream.Failure, stage: CatchStage) throws(Mode.RuleError) in
        let fallback = try handler(error)
        guard let gate = stage.gate else { return fallback.receive(CatchStage.Fallback(stage: stage), through: nil) }
        gate.atHome { fallback.receive(CatchStage.Fallback(stage: stage), through: gate) }
      }
      upstream.receive(stage, through: stage.gate)
    }
  }
}

/// Upstream's subscriber. The other publisher's subscriber is ``Fallback``.
@usableFromInline
final class CatchStage<Input, Failure: Error, Mode: Publishers.FailureMode>: Stage<Input, Mode.Failure>, Subscriber {
  @usableFromInline typealias Recover = (Failure, CatchStage) throws(Mode.RuleError) -> Void

  @usableFromInline let recover: Recover
  @usableFromInline let gate = ThreadGate.ofSuccession()
  /// The outstanding demand; counted only while upstream delivers.
  @exclusivity(unchecked) @usableFromInline var demand = Subscribers.Demand.none
  /// True when upstream has failed: from then on, the fallback delivers.
  @exclusivity(unchecked) @usableFromInline var hasFailed = false

  /// - Parameter recover: subscribes a ``Fallback``; created where the other publisher's type is known.
  @inlinable init(_ down: ErasedSubscriber<Input, Mode.Failure>, _ recover: @escaping Recover) {
    self.recover = recover
    super.init(down)
    joint = gate
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    // While the fallback delivers, upstream may not have noticed that an operator below it has failed.
    guard takesEvents ? !hasFailed : takesStray() else { return .none }
    demand.takeOne(for: self)
    let more = down.receive(input)
    guard more > .none else { return .none }
    // Upstream may have failed while the value was being delivered.
    guard !hasFailed else {
      requested(more)
      return .none
    }
    demand += more
    return more
  }

  @inlinable func receive(completion: Subscribers.Completion<Failure>) {
    guard case .failure(let error) = completion else {
      if !hasFailed { finish(.finished) }
      return
    }
    guard isLive else { return }
    precondition(!hasFailed, "\(self): upstream failed a second time; deliver one completion")
    hasFailed = true
    discard(up.take())
    do throws(Mode.RuleError) {
      try recover(error, self)
    } catch {
      finish(.failure(Mode.failure(ofRule: error)))
    }
  }

  @inlinable override func requested(_ demand: Subscribers.Demand) {
    guard isLive else { return }
    guard let up else {
      // Upstream has failed, and the subscription to the fallback has not arrived.
      self.demand += demand
      return
    }
    if !hasFailed { self.demand += demand }
    up.request(demand)
  }

  @usableFromInline override var strays: Strays { .valuesPass }
  @usableFromInline override var description: String { Mode.throwsErrors ? "TryCatch" : "Catch" }

  /// The other publisher's subscriber.
  @usableFromInline struct Fallback: Subscriber, CustomStringConvertible {
    @usableFromInline typealias Failure = Mode.UpstreamFailure

    @usableFromInline let stage: CatchStage

    @inlinable init(stage: CatchStage) { self.stage = stage }

    @inlinable func receive(subscription: any Subscription) { stage.receive(fallback: subscription) }

    @inlinable func receive(_ input: Input) -> Subscribers.Demand {
      stage.isLive || stage.takesStray() ? stage.down.receive(input) : .none
    }

    @inlinable func receive(completion: Subscribers.Completion<Mode.UpstreamFailure>) {
      if stage.up != nil { stage.finish(completion.mapError(Mode.failure(ofUpstream:))) }
    }

    @usableFromInline var combineIdentifier: CombineIdentifier { stage.combineIdentifier }
    @usableFromInline var description: String { stage.description }
  }

  @inlinable func receive(fallback subscription: any Subscription) {
    guard isLive, up == nil else {
      subscription.cancel()
      return
    }
    attach(subscription)
    if demand > .none { up?.request(demand) }
  }
}
