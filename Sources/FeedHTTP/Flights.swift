import FeedStream

/// Work whose result goes to everybody who wants it while it runs: for each key it runs once at a time.
///
/// **Demand:** of the work, once one of its subscribers asks. **Failure:** goes to all. **Cancellation:** the last subscriber's
/// cancels the work. **Policy:** the result is held for subscribers without demand; a
/// subscriber after completion starts the work again.
/// Lives on one thread, as streams do.
package final class Flights<Key: Hashable, Output, Failure: Error> {
  private var running: [Key: AnyPublisher<Output, Failure>] = [:]

  package init() {}

  /// The work for `key` that runs, or that which `begin` makes, from the time of the subscription.
  package func join(
    _ key: Key, _ begin: @escaping () -> AnyPublisher<Output, Failure>
  ) -> AnyPublisher<Output, Failure> {
    Deferred { [self] () -> AnyPublisher<Output, Failure> in
      if let flight = running[key] { return flight }
      // Forgotten before its subscribers know that it has ended: one of them may ask again.
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
