extension Publisher {
  /// Goes on with another publisher when this one fails.
  ///
  ///     upstream    --a--b--#
  ///     catch { _ in fallback }      (fallback: --x--y--|)
  ///     downstream  --a--b----x--y--|
  ///
  /// **Demand:** what has been asked for and not delivered is asked of the other publisher. **Failure:** the other
  /// publisher's. **Cancellation:** cancels whichever is delivering. Policy: forwards.
  ///
  /// - Parameter handler: makes the other publisher of the error.
  @inlinable
  public func `catch`<P: Publisher>(
    _ handler: @escaping (Failure) -> P
  ) -> Publishers.Catch<Self, P> where P.Output == Output {
    Publishers.Catch(upstream: self, handler: handler)
  }

  /// Goes on with another publisher when this one fails, or fails with what making it throws.
  ///
  /// **Demand:** what has been asked for and not delivered is asked of the other publisher. **Failure:** the other
  /// publisher's, or the error thrown. **Cancellation:** cancels whichever is delivering. Policy: forwards.
  ///
  /// - Parameter handler: makes the other publisher of the error, or throws.
  @inlinable
  public func tryCatch<P: Publisher>(
    _ handler: @escaping (Failure) throws -> P
  ) -> Publishers.TryCatch<Self, P> where P.Output == Output {
    Publishers.TryCatch(upstream: self, handler: handler)
  }
}

extension Publishers {
  /// See ``Publisher/catch(_:)``.
  @frozen
  public struct Catch<Upstream: Publisher, NewPublisher: Publisher>: Publisher
  where Upstream.Output == NewPublisher.Output {
    public typealias Output = Upstream.Output
    public typealias Failure = NewPublisher.Failure

    public let upstream: Upstream
    public let handler: (Upstream.Failure) -> NewPublisher

    @inlinable
    public init(upstream: Upstream, handler: @escaping (Upstream.Failure) -> NewPublisher) {
      self.upstream = upstream
      self.handler = handler
    }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: CatchStage<Output, Upstream.Failure, Never, Failure, Failure>(
          Downstream(subscriber), .passing
        ) { [handler] error, stage in
          handler(error).receive(subscriber: CatchStage.Fallback(stage: stage))
        })
    }
  }

  /// See ``Publisher/tryCatch(_:)``.
  @frozen
  public struct TryCatch<Upstream: Publisher, NewPublisher: Publisher>: Publisher
  where Upstream.Output == NewPublisher.Output {
    public typealias Output = Upstream.Output
    public typealias Failure = any Error

    public let upstream: Upstream
    public let handler: (Upstream.Failure) throws -> NewPublisher

    @inlinable
    public init(upstream: Upstream, handler: @escaping (Upstream.Failure) throws -> NewPublisher) {
      self.upstream = upstream
      self.handler = handler
    }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: CatchStage<Output, Upstream.Failure, any Error, NewPublisher.Failure, Failure>(
          Downstream(subscriber), .throwing
        ) { [handler] error, stage in
          try handler(error).receive(subscriber: CatchStage.Fallback(stage: stage))
        })
    }
  }
}

/// Upstream's subscriber; the publisher that follows it has ``Fallback``.
@usableFromInline
final class CatchStage<Input, Failure: Error, RuleError: Error, NewFailure: Error, OutputFailure: Error>:
  Stage<Input, OutputFailure>, Subscriber
{
  @usableFromInline
  typealias Recover = (Failure, CatchStage) throws(RuleError) -> Void

  @usableFromInline
  let endings: Endings<NewFailure, RuleError, OutputFailure>
  @usableFromInline
  let recover: Recover
  /// Asked for and not yet delivered, as long as upstream delivers.
  @exclusivity(unchecked)
  @usableFromInline
  var demand = Subscribers.Demand.none
  /// Upstream has failed: from now on the fallback delivers.
  @exclusivity(unchecked)
  @usableFromInline
  var hasFailed = false

  /// - Parameter recover: subscribes a ``Fallback``; formed where the other publisher's type is known.
  @inlinable
  init(
    _ down: Downstream<Input, OutputFailure>, _ endings: Endings<NewFailure, RuleError, OutputFailure>,
    _ recover: @escaping Recover
  ) {
    self.endings = endings
    self.recover = recover
    super.init(down)
  }

  @inlinable
  func receive(_ input: Input) -> Subscribers.Demand {
    guard isLive || takesStray() else { return .none }
    demand.spend(self)
    let more = down.next(input)
    guard more > .none else { return .none }
    // It may have failed while the value was being delivered.
    guard !hasFailed else {
      request(more)
      return .none
    }
    demand += more
    return more
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    guard case .failure(let error) = completion else {
      if !hasFailed { finish(.finished) }
      return
    }
    guard phase == .live else { return }
    precondition(!hasFailed, "\(self): upstream failed again after it had failed; a stream has one ending")
    hasFailed = true
    up = nil
    do throws(RuleError) {
      try recover(error, self)
    } catch {
      finish(.failure(endings.rule(error)))
    }
  }

  @inlinable
  override func request(_ demand: Subscribers.Demand) {
    demand.assertPositive(self)
    guard phase == .live else { return }
    guard let up else {
      // Between the two publishers.
      self.demand += demand
      return
    }
    if !hasFailed { self.demand += demand }
    up.request(demand)
  }

  @usableFromInline
  override var strays: Strays { .valuesPass }
  @usableFromInline
  override var description: String { RuleError.self == Never.self ? "Catch" : "TryCatch" }

  /// The subscriber of the publisher that follows.
  @usableFromInline
  struct Fallback: Subscriber, CustomStringConvertible {
    @usableFromInline
    typealias Failure = NewFailure

    @usableFromInline
    let stage: CatchStage

    @inlinable
    init(stage: CatchStage) { self.stage = stage }

    @inlinable
    func receive(subscription: any Subscription) { stage.receive(fallback: subscription) }

    @inlinable
    func receive(_ input: Input) -> Subscribers.Demand {
      stage.isLive || stage.takesStray() ? stage.down.next(input) : .none
    }

    @inlinable
    func receive(completion: Subscribers.Completion<NewFailure>) {
      if stage.up != nil { stage.finish(completion.mapError(stage.endings.upstream)) }
    }

    @usableFromInline
    var combineIdentifier: CombineIdentifier { stage.combineIdentifier }
    @usableFromInline
    var description: String { stage.description }
  }

  @inlinable
  func receive(fallback subscription: any Subscription) {
    guard phase == .live, up == nil else {
      subscription.cancel()
      return
    }
    up = subscription
    if demand > .none { subscription.request(demand) }
  }
}
