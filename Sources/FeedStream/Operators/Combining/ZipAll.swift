/// Combines the values at the same place of any number of publishers of different types into a tuple.
///
///     zip(image, title, author).map { image, title, author in … }
///
/// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``. For two to four publishers the method is the
/// faster: here the publishers' types are erased.
public func zip<Failure: Error, each Value>(
  _ publishers: repeat any Publisher<each Value, Failure>
) -> Publishers.ZipAll<(repeat each Value), Failure> {
  Publishers.ZipAll(.pairing, repeat each publishers)
}

/// Combines the newest values of any number of publishers of different types into a tuple, whenever one delivers.
///
/// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``. For two to four publishers the
/// method is the faster: here the publishers' types are erased.
public func combineLatest<Failure: Error, each Value>(
  _ publishers: repeat any Publisher<each Value, Failure>
) -> Publishers.ZipAll<(repeat each Value), Failure> {
  Publishers.ZipAll(.latest, repeat each publishers)
}

extension Publishers {
  /// See ``zip(_:)`` and ``combineLatest(_:)`` of any number of publishers.
  ///
  /// The pack is not in the type: with a tuple of a pack as its `Output`, Swift 6.3's compiler crashes where it is
  /// used.
  public struct ZipAll<Output, Failure: Error>: Publisher {
    private let rule: JoinRule
    private let start: (LaneStage<Output, Failure>) -> Void

    @usableFromInline init<each Value>(_ rule: JoinRule, _ publishers: repeat any Publisher<each Value, Failure>)
    where Output == (repeat each Value) {
      self.rule = rule
      start = { stage in
        let lanes = (repeat stage.newLane(of: (each Value).self))
        var upstreams: [() -> Void] = []
        repeat upstreams.append(attaching(each lanes, to: each publishers))
        stage.start(upstreams, assemble: { (repeat (each lanes).take()) })
      }
    }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      start(LaneStage(rule, ErasedSubscriber(subscriber)))
    }
  }
}

private func attaching<Value, Output, Failure: Error>(
  _ lane: Lane<Value, Output, Failure>, to publisher: any Publisher<Value, Failure>
) -> () -> Void {
  { publisher.receive(subscriber: lane) }
}
