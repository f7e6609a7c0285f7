/// Combines values at the same index from any number of publishers of different types into a tuple.
///
///     zip(image, title, author).map { image, title, author in "\(title) by \(author)" }
///
/// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``. Two to four publishers keep their types. The
/// types of five or more publishers are erased, and unspecialized code subscribes to them. Before you pass a long
/// chain, end it with `eraseToAnyPublisher()`, which is specialized.
@_disfavoredOverload
public func zip<Failure: Error, each Value>(
  _ publishers: repeat any Publisher<each Value, Failure>
) -> Publishers.ZipAll<(repeat each Value), Failure> {
  Publishers.ZipAll(repeat each publishers)
}

/// Combines values at the same index from two publishers.
///
/// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``.
@inlinable public func zip<A: Publisher, B: Publisher>(_ a: A, _ b: B) -> Publishers.Zip<A, B>
where A.Failure == B.Failure {
  Publishers.Zip(a, b)
}

/// Combines values at the same index from three publishers.
///
/// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``.
@inlinable public func zip<A: Publisher, B: Publisher, C: Publisher>(
  _ a: A, _ b: B, _ c: C
) -> Publishers.Zip3<A, B, C> where A.Failure == B.Failure, B.Failure == C.Failure {
  Publishers.Zip3(a, b, c)
}

/// Combines values at the same index from four publishers.
///
/// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``.
@inlinable public func zip<A: Publisher, B: Publisher, C: Publisher, D: Publisher>(
  _ a: A, _ b: B, _ c: C, _ d: D
) -> Publishers.Zip4<A, B, C, D> where A.Failure == B.Failure, B.Failure == C.Failure, C.Failure == D.Failure {
  Publishers.Zip4(a, b, c, d)
}

extension Publishers {
  /// See ``zip(_:)`` for any number of publishers.
  ///
  /// The pack is not part of the type: if `Output` were a tuple of a pack, Swift 6.3's compiler would crash.
  public struct ZipAll<Output, Failure: Error>: Publisher, _JoinsPublishers {
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
