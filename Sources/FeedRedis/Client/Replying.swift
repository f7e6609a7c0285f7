import FeedStream

/// The publisher of one reply: each subscription sends the command.
struct Replying: Publisher, _DeliversAtHome {
  typealias Output = RedisValue
  typealias Failure = RedisError

  let start: (@escaping RedisLink.Reply) -> Void

  func receive<S: Subscriber>(subscriber: S) where S.Input == RedisValue, S.Failure == RedisError {
    let subscription = ResultSubscription("RedisClient", subscriber)
    start { subscription.settle($0) }
    subscription.begin()
  }
}
