import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct SubscribeOnTests {
  @Test func `subscribe(on:) subscribes and cancels on the scheduler`() {
    withVirtualTime { time in
      var log: [String] = []
      let upstream = PassthroughSubject<Character, Boom>()
        .handleEvents(
          receiveSubscription: { _ in log.append("subscribed") }, receiveCancel: { log.append("cancelled") })
      let recorder = upstream.subscribe(on: time).record(on: time)
      #expect(log == [])
      time.advance(by: .milliseconds(1))
      #expect(log == ["subscribed"])
      recorder.cancel()
      #expect(log == ["subscribed"])
      time.advance(by: .milliseconds(1))
      #expect(log == ["subscribed", "cancelled"])
    }
  }

  /// Delivers up to a thousand numbers when values are requested, until it is cancelled.
  private struct Thousand: Publisher {
    typealias Output = Int
    typealias Failure = Never

    private final class Inner<S: Subscriber>: Subscription where S.Input == Int, S.Failure == Never {
      private var subscriber: S?
      init(_ subscriber: S) { self.subscriber = subscriber }
      func request(_ demand: Subscribers.Demand) {
        for number in 0..<1_000 {
          guard let subscriber else { return }
          _ = subscriber.receive(number)
        }
      }
      func cancel() { subscriber = nil }
    }

    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
      subscriber.receive(subscription: Inner(subscriber))
    }
  }

  @Test func `a subscriber that cancels during a delivery stops a sequence at that value`() {
    withVirtualTime { time in
      let numbers = (0..<1_000).publisher
      for source in [
        numbers.eraseToAnyPublisher(), Thousand().eraseToAnyPublisher(),
        numbers.delaySubscription(for: .milliseconds(2), scheduler: time).eraseToAnyPublisher(),
      ] {
        var delivered = 0
        // After the third value, the filter lets nothing pass.
        let recorder = source.handleEvents(receiveOutput: { _ in delivered += 1 }).filter { $0 < 3 }
          .subscribe(on: time).prefix(3).record(on: time)
        time.advance(by: .milliseconds(5))
        #expect(recorder.values == [0, 1, 2])
        #expect(delivered == 3)
      }
    }
  }

  @Test func `a sequence stops at its first value if the stream was cancelled before the request was made`() {
    withVirtualTime { time in
      var delivered = 0
      (0..<1_000).publisher.handleEvents(receiveOutput: { _ in delivered += 1 }).subscribe(on: time)
        .subscribe(
          AnySubscriber<Int, Never>(receiveSubscription: {
            $0.request(.unlimited)
            $0.cancel()
          }))
      time.advance(by: .milliseconds(1))
      #expect(delivered == 1)
    }
  }

  @Test func `a sink cancelled before its subscription arrives receives nothing`() {
    withVirtualTime { time in
      var values: [Int] = []
      let sink = Just(1).subscribe(on: time).sink { values.append($0) }
      sink.cancel()
      time.advance(by: .milliseconds(1))
      #expect(values == [])
    }
  }
}
