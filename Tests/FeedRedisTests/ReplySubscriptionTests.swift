import FeedRedis
import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

/// The publisher of a command: the events that its subscriber receives, and their times.
@Suite(.settled) struct ReplySubscriptionTests {
  /// Records the events that it receives, and requests values when the test tells it to.
  private final class Asker: Subscriber {
    var texts: [String] = []
    var subscription: (any Subscription)?
    var atValue: (() -> Void)?

    func receive(subscription: any Subscription) {
      self.subscription = subscription
      texts.append("subscription")
    }
    func receive(_ value: RedisValue) -> Subscribers.Demand {
      texts.append(value.text ?? "\(value)")
      atValue?()
      return .none
    }
    func receive(completion: Subscribers.Completion<RedisError>) {
      subscription = nil
      switch completion {
      case .finished: texts.append("finished")
      case .failure(let error): texts.append("\(error)")
      }
    }
  }

  private func withServer(_ body: (VirtualTimeScheduler, ScriptedRedis, RedisClient, Asker) throws -> Void) throws {
    try withVirtualTime { time in
      let server = try ScriptedRedis(at: .unix("/run/redis"), on: time) {
        $0[0] == "ECHO" ? "+\($0[1])\r\n" : $0[0] == "FAIL" ? "-ERR no\r\n" : nil
      }
      let client = RedisClient(RedisAddress(.unix(path: "/run/redis")), on: time)
      try body(time, server, client, Asker())
      client.close()
      time.run()
      server.close()
    }
  }

  private let echo = RedisCommand("ECHO", "a")

  @Test func `a command is sent on subscription, and its reply waits for demand`() throws {
    try withServer { time, server, client, asker in
      let command = client.send(echo)
      time.advance(by: .seconds(1))
      #expect(server.heard.isEmpty)
      command.subscribe(asker)
      time.advance(by: .seconds(1))
      #expect(server.heard[0].last == "ECHO a")
      #expect(asker.texts == ["subscription"])
      asker.subscription?.request(.max(1))
      #expect(asker.texts == ["subscription", "a", "finished"])
    }
  }

  @Test func `each subscription sends the command again`() throws {
    try withServer { time, server, client, _ in
      let command = client.send(echo)
      let askers = (0..<3).map { _ in Asker() }
      for asker in askers {
        command.subscribe(asker)
        asker.subscription?.request(.unlimited)
      }
      time.advance(by: .seconds(1))
      #expect(askers.allSatisfy { $0.texts == ["subscription", "a", "finished"] })
      #expect(server.heard[0].filter { $0 == "ECHO a" }.count == 3)
    }
  }

  @Test func `a failure follows the subscription without waiting for demand`() throws {
    try withServer { time, _, client, asker in
      client.send(RedisCommand("FAIL")).subscribe(asker)
      time.advance(by: .seconds(1))
      #expect(asker.texts == ["subscription", "unix:///run/redis refused the command: ERR no"])
      client.close()
      let late = Asker()
      client.send(echo).subscribe(late)
      #expect(late.texts == ["subscription", "The Redis client is closed."])
    }
  }

  @Test func `a subscriber that cancels on the reply receives no completion`() throws {
    try withServer { time, _, client, asker in
      client.send(echo).subscribe(asker)
      asker.atValue = { [unowned asker] in asker.subscription.take()?.cancel() }
      asker.subscription?.request(.max(1))
      time.advance(by: .seconds(1))
      #expect(asker.texts == ["subscription", "a"])
    }
  }

  @Test func `cancelling drops a reply that waits for demand`() throws {
    try withServer { time, _, client, asker in
      client.send(echo).subscribe(asker)
      time.advance(by: .seconds(1))
      let subscription = asker.subscription.take()
      subscription?.cancel()
      subscription?.request(.max(1))
      #expect(asker.texts == ["subscription"])
    }
  }

  @Test func `one publisher delivers the replies of several commands, or fails if one is refused`() throws {
    try withServer { time, server, client, _ in
      var (replies, endings): ([[RedisValue]], [String]) = ([], [])
      for commands in [[echo, echo], [echo, RedisCommand("FAIL"), echo]] {
        let subscription = client.send(commands).sink {
          endings.append("\($0)")
        } receiveValue: {
          replies.append($0)
        }
        time.advance(by: .seconds(1))
        subscription.cancel()
      }
      #expect(replies == [[.status("a"), .status("a")]])
      #expect(endings.first == "finished" && endings.last?.contains("no") == true && endings.count == 2, "\(endings)")
      #expect(server.heard[0].filter { $0 == "ECHO a" }.count == 4)
      var isEmpty = false
      client.send([RedisCommand]()).sink { _ in
      } receiveValue: {
        isEmpty = $0.isEmpty
      }
      .cancel()
      #expect(isEmpty)
    }
  }

  @Test func `a thousand replies reach their commands in order while more are sent`() throws {
    try withServer { time, _, client, _ in
      var (texts, running): ([String], [AnyCancellable]) = ([], [])
      func send(_ number: Int) {
        guard number < 3000 else { return }
        running.append(
          client.send(RedisCommand("ECHO", RedisArgument(number))).sink { _ in
            send(number + 700)
          } receiveValue: {
            texts.append($0.text ?? "?")
          })
      }
      for number in 0..<700 { send(number) }
      time.advance(by: .seconds(5))
      #expect(texts == (0..<3000).map(String.init))
      running = []
    }
  }
}
