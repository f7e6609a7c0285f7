extension Swift.Collection where Element: Publisher {
  /// Delivers the newest values of these publishers as an array, whenever one of them delivers a value. Nothing is
  /// delivered until all have delivered one.
  ///
  ///     a           --1---------2---------|
  ///     b           -----7-------------8----|
  ///     [a, b].combineLatest()
  ///     downstream  -----[1,7]--[2,7]--[2,8]|
  ///
  /// Finishes when all have finished, or when one has finished without a value; finishes immediately if there are no
  /// publishers.
  /// **Demand:** passes to all. **Failure:** the first failure cancels the other publishers and ends the stream.
  /// **Cancellation:** cancels all. **Policy:** while nothing is requested, newer values replace older ones, by design.
  public func combineLatest() -> Publishers.CombineLatestMany<Element> { Publishers.CombineLatestMany(self) }
}

extension Publishers {
  /// See `Collection.combineLatest()`.
  public struct CombineLatestMany<Upstream: Publisher>: Publisher, _JoinsPublishers {
    public typealias Output = [Upstream.Output]
    public typealias Failure = Upstream.Failure

    public let publishers: [Upstream]

    @inlinable public init(_ upstream: Upstream...) { publishers = upstream }
    @inlinable
    public init<S: Swift.Sequence>(_ upstream: S) where S.Element == Upstream { publishers = Array(upstream) }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      LaneStage(.latest, ErasedSubscriber(subscriber)).start(publishers)
    }
  }
}

extension Publishers.CombineLatestMany: Equatable where Upstream: Equatable {}
