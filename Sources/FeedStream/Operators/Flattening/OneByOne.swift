extension Publishers {
  /// ``ConcatMap`` and ``FlatMapFirst``: a publisher of each value, one at a time.
  @frozen public struct OneByOne<WhenBusy: BusyRule, NewPublisher: Publisher, Upstream: Publisher>: Publisher
  where NewPublisher.Failure == Upstream.Failure {
    public typealias Output = NewPublisher.Output
    public typealias Failure = Upstream.Failure

    public let upstream: Upstream
    public let transform: (Upstream.Output) -> NewPublisher

    @inlinable public init(upstream: Upstream, transform: @escaping (Upstream.Output) -> NewPublisher) {
      self.upstream = upstream
      self.transform = transform
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let stage = FlatteningStage<Upstream.Output, Output, Failure>(
        WhenBusy.name, ErasedSubscriber(subscriber), WhenBusy.keepsValues ? .waits : .isDropped, transform)
      stage.down.receive(subscription: stage)
      upstream.receive(subscriber: stage)
    }
  }

  /// What becomes of a value that comes while a publisher made of another runs: ``WaitsItsTurn`` or ``DropsIfBusy``.
  public protocol BusyRule {
    static var name: StaticString { get }
    /// Whether it is kept until its turn; otherwise it is dropped.
    static var keepsValues: Bool { get }
  }
}
