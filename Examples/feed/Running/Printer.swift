import FeedStream

/// Writes each value, and requests the next one when that is done, so that a slow reader slows down the stream.
final class Printer<Input, Failure: Error>: Subscriber, Cancellable {
  private let write: (Input, @escaping () -> Void) -> Void
  private let ended: (Subscribers.Completion<Failure>) -> Void
  private var subscription: (any Subscription)?
  private var isWriting = false
  /// The completion that arrived while a value was being written.
  private var ending: Subscribers.Completion<Failure>?

  /// - Parameters:
  ///   - write: writes a value, and calls back when it is written.
  ///   - ended: receives the completion after everything is written, unless the printer is cancelled.
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
    isWriting = true
    write(input) { [weak self] in self?.written() }
    return .none
  }

  private func written() {
    isWriting = false
    if let ending = ending.take() { ended(ending) } else { subscription?.request(.max(1)) }
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    subscription = nil
    // Wait for the running write, because ending the process now would cut it off.
    if isWriting { ending = completion } else { ended(completion) }
  }

  func cancel() {
    let subscription = subscription
    self.subscription = nil
    ending = nil
    subscription?.cancel()
  }
}
