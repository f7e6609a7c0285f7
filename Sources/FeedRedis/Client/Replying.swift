public import FeedStream

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

extension RedisClient {
  /// Sends a command when subscribed to, delivers its reply and finishes.
  ///
  /// **Demand:** sent on subscription; the reply is held until requested. **Failure:** ``RedisError``, including
  /// refusals. **Cancellation:** the reply is dropped when it arrives; the command is sent anyway.
  public func send(_ command: RedisCommand) -> AnyPublisher<RedisValue, RedisError> {
    Replying { reply in self.perform(command, reply) }.eraseToAnyPublisher()
  }

  /// Sends the commands together when subscribed to, and delivers their replies.
  ///
  /// **Demand:** sent on subscription; the replies are held until requested. **Failure:** the first failure or
  /// refusal. The server executes the other commands anyway. If this client doesn't send one of the commands, or not
  /// all of them may wait (``Options/maxWaiting``), none is sent. **Cancellation:** as for ``send(_:)``.
  public func send(_ commands: [RedisCommand]) -> AnyPublisher<[RedisValue], RedisError> {
    send(commands, wrongType: nil)
  }

  /// - Parameter wrongType: the reply to a command whose key has an unexpected type, if that isn't a failure.
  package func send(_ commands: [RedisCommand], wrongType: RedisValue?) -> AnyPublisher<[RedisValue], RedisError> {
    Replying { reply in self.perform(commands, wrongType: wrongType) { reply($0.map { .array($0) }) } }
      .map { $0.elements ?? [] }.eraseToAnyPublisher()
  }
}
