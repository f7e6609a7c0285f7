import FeedStream

/// Work whose result goes to every subscriber that joins while the work is running. For each key, only one piece of
/// work runs at a time.
///
/// **Demand:** the result is requested once a subscriber requests it. **Failure:** goes to all subscribers.
/// **Cancellation:** when the last subscriber cancels, the work is cancelled. **Policy:** the result is held for
/// subscribers without demand; subscribing after completion starts the work again. Like a stream, it must be used on
/// one thread.
package final class Flights<Key: Hashable, Output, Failure: Error> {
  private var running: [Key: AnyPublisher<Output, Failure>] = [:]

  package init() {}

  /// The running work for `key`, or else the work that `begin` creates; the choice is made on subscription.
  package func join(
    _ key: Key, _ begin: @escaping () -> AnyPublisher<Output, Failure>
  ) -> AnyPublisher<Output, Failure> {
    Deferred { [self] () -> AnyPublisher<Output, Failure> in
      if let flight = running[key] { return flight }
      // The flight is removed before its subscribers receive the completion, because one of them may start the work
      // again.
      let flight = begin()
        .handleEvents(
          receiveCompletion: { [weak self] _ in self?.running[key] = nil },
          receiveCancel: { [weak self] in self?.running[key] = nil }
        )
        .share(replay: 1)
        .eraseToAnyPublisher()
      running[key] = flight
      return flight
    }
    .eraseToAnyPublisher()
  }
}
