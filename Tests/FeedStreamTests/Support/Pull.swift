import FeedStream

/// Pulls values one by one: it requests the next value with the demand that it returns for each, or by a call during
/// the delivery.
final class Puller<Input, Failure: Error>: Subscriber {
  enum Way { case answering, requesting }

  private let way: Way
  private var subscription: (any Subscription)?
  private(set) var count = 0
  private(set) var isEnded = false

  init(_ way: Way) { self.way = way }

  func receive(subscription: any Subscription) {
    self.subscription = subscription
    subscription.request(.max(1))
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    count += 1
    if way == .answering { return .max(1) }
    subscription?.request(.max(1))
    return .none
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    isEnded = true
    subscription = nil
  }
}

extension Publisher {
  /// The number of values that are pulled one by one until the completion; `nil` without a completion.
  func pulled(_ way: Puller<Output, Failure>.Way) -> Int? {
    let puller = Puller<Output, Failure>(way)
    subscribe(puller)
    return puller.isEnded ? puller.count : nil
  }
}
