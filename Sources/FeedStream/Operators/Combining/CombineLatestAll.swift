/// Combines the newest values of any number of publishers of different types into a tuple, whenever one of them
/// delivers a value.
///
/// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``. Two to four publishers keep their
/// types. The types of five or more publishers are erased, and unspecialized code subscribes to them. Before you pass a
/// long chain, end it with `eraseToAnyPublisher()`, which is specialized.
@_disfavoredOverload
public func combineLatest<Failure: Error, each Value>(
  _ publishers: repeat any Publisher<each Value, Failure>
) -> Publishers.CombineLatestAll<(repeat each Value), Failure> {
  Publishers.CombineLatestAll(repeat each publishers)
}

/// Combines the newest values of two publishers, whenever one of them delivers a value.
///
/// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``.
@inlinable public func combineLatest<A: Publisher, B: Publisher>(_ a: A, _ b: B) -> Publishers.CombineLatest<A, B>
where A.Failure == B.Failure {
  Publishers.CombineLatest(a, b)
}

/// Combines the newest values of three publishers, whenever one of them delivers a value.
///
/// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``.
@inlinable public func combineLatest<A: Publisher, B: Publisher, C: Publisher>(
  _ a: A, _ b: B, _ c: C
) -> Publishers.CombineLatest3<A, B, C> where A.Failure == B.Failure, B.Failure == C.Failure {
  Publishers.CombineLatest3(a, b, c)
}

/// Combines the newest values of four publishers, whenever one of them delivers a value.
///
/// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``.
@inlinable public func combineLatest<A: Publisher, B: Publisher, C: Publisher, D: Publisher>(
  _ a: A, _ b: B, _ c: C, _ d: D
) -> Publishers.CombineLatest4<A, B, C, D>
where A.Failure == B.Failure, B.Failure == C.Failure, C.Failure == D.Failure {
  Publishers.CombineLatest4(a, b, c, d)
}

extension Publishers {
  /// See ``combineLatest(_:)`` for any number of publishers.
  public struct CombineLatestAll<Output, Failure: Error>: Publisher, _JoinsPublishers {
    private let start: (LaneStage<Output, Failure>) -> Void

    @usableFromInline init<each Value>(_ publishers: repeat any Publisher<each Value, Failure>)
    where Output == (repeat each Value) {
      start = { $0.start(repeat each publishers) }
    }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      start(LaneStage(.latest, ErasedSubscriber(subscriber)))
    }
  }
}
