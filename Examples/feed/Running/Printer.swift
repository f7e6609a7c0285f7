import FeedStream

/// Writes each value and asks for the next when it is written: a slow reader slows the stream down.
final class Printer<Input, Failure: Error>: Subscriber, Cancellable {
  private let write: (Input, @escaping () -> Void) -> Void
  private let ended: (Subscribers.Completion<Failure>) -> Void
  private var subscription: (any Subscription)?

  /// - Parameters:
  ///   - write: writes a value and calls back when that is done.
  ///   - ended: receives the ending, unless cancelled.
  init(
    write: @escaping (Input, @escaping () -> Void) -> Void,
    ended: @escaping (Subscribers.Completion<Failure>) -> Void
  ) {
    self.write = write
    self.ended = ended
  }

  func receive(subscription: any Subscription) {
    self.subscription = subscription
    subscription.request(.max(1))
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    write(input) { [weak self] in self?.subscription?.request(.max(1)) }
    return .none
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    subscription = nil
    ended(completion)
  }

  func cancel() {
    let subscription = subscription
    self.subscription = nil
    subscription?.cancel()
  }
}
