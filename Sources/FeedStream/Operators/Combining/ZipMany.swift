extension Swift.Collection where Element: Publisher {
  /// Combines values at the same index from all these publishers into an array.
  ///
  ///     a           --1--2-----3--|
  ///     b           -----7-----8-----9--|
  ///     [a, b].zip()
  ///     downstream  -----[1,7]-[2,8]-[3,9]|
  ///
  /// Finishes when one has finished and its last value has been used, or immediately when there are no publishers.
  /// **Demand:** passes to all. **Failure:** the first failure cancels the other publishers and ends the stream.
  /// **Cancellation:** cancels all. **Policy:** a value waits for its partners, so values of a faster publisher are
  /// held, up to the requested number; values that still lack a partner at the completion are dropped and reported.
  public func zip() -> Publishers.ZipMany<Element> { Publishers.ZipMany(self) }
}

extension Publishers {
  /// See `Collection.zip()`.
  public struct ZipMany<Upstream: Publisher>: Publisher, _JoinsPublishers {
    public typealias Output = [Upstream.Output]
    public typealias Failure = Upstream.Failure

    public let publishers: [Upstream]

    @inlinable public init(_ upstream: Upstream...) { publishers = upstream }
    @inlinable
    public init<S: Swift.Sequence>(_ upstream: S) where S.Element == Upstream { publishers = Array(upstream) }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      LaneStage(.pairing, ErasedSubscriber(subscriber)).start(publishers)
    }
  }
}

extension Publishers.ZipMany: Equatable where Upstream: Equatable {}
