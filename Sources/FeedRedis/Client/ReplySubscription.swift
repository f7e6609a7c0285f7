import FeedStream

/// The publisher of one reply: each subscription starts what is replied to.
struct Replying: Publisher {
  typealias Output = RedisValue
  typealias Failure = RedisError

  let start: (@escaping RedisLink.Reply) -> Void

  func receive<S: Subscriber>(subscriber: S) where S.Input == RedisValue, S.Failure == RedisError {
    // Formed here, where the subscriber's type is known: one object more, and no call through a generic class.
    let subscription = ReplySubscription { subscription, result in
      switch result {
      case .success(let value):
        _ = subscriber.receive(value)
        // The subscriber may have cancelled when it received the value.
        if subscription.end() { subscriber.receive(completion: .finished) }
      case .failure(let error):
        if subscription.end() { subscriber.receive(completion: .failure(error)) }
      }
    }
    start { subscription.settle($0) }
    subscriber.receive(subscription: subscription)
    subscription.open()
  }
}

/// A subscription that delivers one reply: it stands for its command in the connection's queue, too.
final class ReplySubscription: Subscription, CustomStringConvertible {
  typealias Deliver = (ReplySubscription, Result<RedisValue, RedisError>) -> Void

  /// `nil` after the ending or the cancellation.
  @exclusivity(unchecked) private var deliver: Deliver?
  @exclusivity(unchecked) private var result: Result<RedisValue, RedisError>?
  @exclusivity(unchecked) private var isAsked = false
  /// True once the subscriber has its subscription.
  @exclusivity(unchecked) private var isOpen = false

  init(_ deliver: @escaping Deliver) { self.deliver = deliver }

  /// Takes the result and delivers it when that is possible.
  func settle(_ result: Result<RedisValue, RedisError>) {
    guard deliver != nil else { return }
    self.result = result
    serve()
  }

  /// The subscriber has its subscription: a failure may be delivered that is here already.
  func open() {
    isOpen = true
    serve()
  }

  /// - Returns: true the first time, unless it was cancelled before.
  fileprivate func end() -> Bool { deliver.take() != nil }

  private func serve() {
    guard isOpen, let result, let deliver else { return }
    if case .success = result, !isAsked { return }
    self.result = nil
    deliver(self, result)
  }

  func request(_ demand: Subscribers.Demand) {
    guard deliver != nil else { return }
    precondition(demand > .none, "RedisClient: request(.none) asks for nothing; request one or more")
    isAsked = true
    serve()
  }

  func cancel() {
    // Released after the change: what it releases may call back.
    let old = (deliver.take(), result.take())
    withExtendedLifetime(old) {}
  }

  var description: String { "RedisClient" }
}
