/// Combines the values at the same index of any number of publishers of different types into a tuple.
///
///     zip(image, title, author).map { image, title, author in "\(title) by \(author)" }
///
/// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``. For two to four publishers the method is the
/// faster: here the publishers' types are erased, and code that is not specialized subscribes to them. Let a long chain
/// end with `eraseToAnyPublisher()`, which is specialized, before it comes here.
public func zip<Failure: Error, each Value>(
  _ publishers: repeat any Publisher<each Value, Failure>
) -> Publishers.ZipAll<(repeat each Value), Failure> {
  Publishers.ZipAll(repeat each publishers)
}

extension Publishers {
  /// See ``zip(_:)`` of any number of publishers.
  ///
  /// The pack is not part of the type: with a tuple of a pack as its `Output`, Swift 6.3's compiler crashes at its
  /// uses.
  public struct ZipAll<Output, Failure: Error>: Publisher {
    private let start: (LaneStage<Output, Failure>) -> Void

    @usableFromInline init<each Value>(_ publishers: repeat any Publisher<each Value, Failure>)
    where Output == (repeat each Value) {
      start = { $0.start(repeat each publishers) }
    }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      start(LaneStage(.pairing, ErasedSubscriber(subscriber)))
    }
  }
}

extension LaneStage {
  /// Gives each publisher a lane, and combines the lanes' values into a tuple.
  func start<each Value>(_ publishers: repeat any Publisher<each Value, Failure>) where Output == (repeat each Value) {
    let lanes = (repeat newLane(of: (each Value).self))
    var upstreams: [() -> Void] = []
    repeat upstreams.append(attaching(each lanes, to: each publishers))
    start(upstreams, assemble: { (repeat (each lanes).take()) })
  }
}

private func attaching<Value, Output, Failure: Error>(
  _ lane: Lane<Value, Output, Failure>, to publisher: any Publisher<Value, Failure>
) -> () -> Void {
  { publisher.receive(subscriber: lane) }
}
