extension Swift.Collection where Element: Publisher {
  /// Combines the values at the same place of all these publishers into an array.
  ///
  ///     a           --1--2-----3--|
  ///     b           -----7--8-----9--|
  ///     [a, b].zip()
  ///     downstream  ----[1,7][2,8][3,9]|
  ///
  /// Finishes when one has finished and its last value is used; at once when there are no publishers. **Demand:**
  /// passes to all. **Failure:** the first ends all. **Cancellation:** cancels all. Policy: a value waits for its
  /// partners, so a faster publisher is held up to what was asked for; values left without partners are dropped, and
  /// reported.
  public func zip() -> Publishers.ZipMany<Element> { Publishers.ZipMany(self) }

  /// Delivers the newest value of each of these publishers as an array, whenever one delivers and all have.
  ///
  ///     a           --1-----2-------|
  ///     b           -----7-----8--|
  ///     [a, b].combineLatest()
  ///     downstream  ----[1,7][2,7][2,8]-|
  ///
  /// Finishes when all have, or when one has finished without a value; at once when there are no publishers.
  /// **Demand:** passes to all. **Failure:** the first ends all. **Cancellation:** cancels all. Policy: while nothing
  /// is asked for, newer values replace older ones, by design.
  public func combineLatest() -> Publishers.CombineLatestMany<Element> { Publishers.CombineLatestMany(self) }

  /// Delivers the values of all these publishers, as they come. Finishes at once when there are no publishers.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  public func merge() -> Publishers.MergeMany<Element> { Publishers.MergeMany(self) }
}

extension Publishers {
  /// See `Collection.zip()`.
  public struct ZipMany<Upstream: Publisher>: Publisher {
    public typealias Output = [Upstream.Output]
    public typealias Failure = Upstream.Failure

    public let publishers: [Upstream]

    @inlinable
    public init(_ upstream: Upstream...) { publishers = upstream }
    @inlinable
    public init<S: Swift.Sequence>(_ upstream: S) where S.Element == Upstream { publishers = Array(upstream) }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      LaneStage(.all, Downstream(subscriber)).start(publishers)
    }
  }

  /// See `Collection.combineLatest()`.
  public struct CombineLatestMany<Upstream: Publisher>: Publisher {
    public typealias Output = [Upstream.Output]
    public typealias Failure = Upstream.Failure

    public let publishers: [Upstream]

    @inlinable
    public init(_ upstream: Upstream...) { publishers = upstream }
    @inlinable
    public init<S: Swift.Sequence>(_ upstream: S) where S.Element == Upstream { publishers = Array(upstream) }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      LaneStage(.latest, Downstream(subscriber)).start(publishers)
    }
  }
}

extension Publishers.ZipMany: Equatable where Upstream: Equatable {}
extension Publishers.CombineLatestMany: Equatable where Upstream: Equatable {}

extension LaneStage {
  @inlinable
  func start<P: Publisher>(_ publishers: [P]) where Output == [P.Output], P.Failure == Failure {
    let lanes = publishers.map { _ in newLane(of: P.Output.self) }
    start(
      publishers.indices.map { index in { publishers[index].receive(subscriber: lanes[index]) } },
      assemble: { lanes.map { $0.take() } })
  }
}
