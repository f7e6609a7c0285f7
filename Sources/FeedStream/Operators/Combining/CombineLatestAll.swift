/// Combines the newest values of any number of publishers of different types into a tuple, whenever one delivers.
///
/// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``. For two to four publishers the
/// method is the faster: here the publishers' types are erased, and code that is not specialized subscribes to them.
/// Let a long chain end with `eraseToAnyPublisher()`, which is specialized, before it comes here.
public func combineLatest<Failure: Error, each Value>(
  _ publishers: repeat any Publisher<each Value, Failure>
) -> Publishers.CombineLatestAll<(repeat each Value), Failure> {
  Publishers.CombineLatestAll(repeat each publishers)
}

extension Publishers {
  /// See ``combineLatest(_:)`` of any number of publishers.
  public struct CombineLatestAll<Output, Failure: Error>: Publisher {
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
