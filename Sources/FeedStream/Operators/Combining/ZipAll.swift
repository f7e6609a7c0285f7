/// Combines the values at the same place of any number of publishers of different types into a tuple.
///
///     zip(image, title, author).map { image, title, author in … }
///
/// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``. For two to four publishers the method is the
/// faster: here the publishers' types are erased.
public func zip<Failure: Error, each Value>(
  _ publishers: repeat any Publisher<each Value, Failure>
) -> Publishers.ZipAll<Failure, repeat each Value> {
  Publishers.ZipAll(.all, repeat each publishers)
}

/// Combines the newest values of any number of publishers of different types into a tuple, whenever one delivers.
///
/// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``. For two to four publishers the method
/// is the faster: here the publishers' types are erased.
public func combineLatest<Failure: Error, each Value>(
  _ publishers: repeat any Publisher<each Value, Failure>
) -> Publishers.ZipAll<Failure, repeat each Value> {
  Publishers.ZipAll(.latest, repeat each publishers)
}

extension Publishers {
  /// What ``zip(_:)`` and ``combineLatest(_:)`` of any number of publishers make.
  public struct ZipAll<Failure: Error, each Value>: Publisher {
    public typealias Output = (repeat each Value)

    public let publishers: (repeat any Publisher<each Value, Failure>)
    private let rule: LaneRule

    init(_ rule: LaneRule, _ publishers: repeat any Publisher<each Value, Failure>) {
      self.rule = rule
      self.publishers = (repeat each publishers)
    }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let stage = LaneStage<Output, Failure>(rule, Downstream(subscriber))
      let lanes = (repeat stage.newLane(of: (each Value).self))
      var upstreams: [() -> Void] = []
      repeat upstreams.append(attaching(each lanes, to: each publishers))
      stage.start(upstreams, assemble: { (repeat (each lanes).take()) })
    }

    private func attaching<V>(
      _ lane: Lane<V, Output, Failure>, to publisher: any Publisher<V, Failure>
    ) -> () -> Void {
      { publisher.receive(subscriber: lane) }
    }
  }
}
