import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct AutoconnectTests {
  @Test func `autoconnect connects once, even when a subscriber attaches during another's subscription`() {
    let source = PassthroughSubject<Int, Never>()
    var connected = 0
    let shared = source.handleEvents(
      receiveSubscription: { _ in connected += 1 }, receiveCancel: { connected -= 1 }
    )
    .makeConnectable().autoconnect()
    var inner: Recorder<Int, Never>?
    let outer = AnySubscriber<Int, Never>(receiveSubscription: {
      inner = shared.record()
      $0.cancel()
    })
    shared.subscribe(outer)
    #expect(connected == 1)
    source.send(1)
    #expect(inner?.values == [1])
    inner?.cancel()
    #expect(connected == 0)
  }

  @Test func `repeated connections don't accumulate memory`() {
    final class Witness: Subject {
      typealias Output = Int
      typealias Failure = Never
      struct Weak { weak var subscription: AnyObject? }
      let inner = PassthroughSubject<Int, Never>()
      var seen: [Weak] = []
      func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
        inner.receive(subscriber: subscriber)
      }
      func send(_ value: Int) { inner.send(value) }
      func send(completion: Subscribers.Completion<Never>) { inner.send(completion: completion) }
      func send(subscription: any Subscription) {
        seen.append(Weak(subscription: subscription as AnyObject))
        inner.send(subscription: subscription)
      }
    }
    let witness = Witness()
    let shared = PassthroughSubject<Int, Never>().multicast(subject: witness).autoconnect()
    for _ in 1...1_000 { shared.record().cancel() }
    #expect(witness.seen.count == 1_000)
    #expect(witness.seen.count { $0.subscription != nil } <= 64)
  }

  @Test func `cancelling a shared stream during connect stops a source that delivers`() {
    var made = 0
    let source = Generate(state: 0) { state in
      made += 1
      state += 1
      return state < 10_000 ? state : nil
    }
    let shared: [AnyPublisher<Int, Never>] = [
      source.share().eraseToAnyPublisher(), source.share(replay: 2).eraseToAnyPublisher(),
      source.share(resetOnComplete: true).eraseToAnyPublisher(),
      source.multicast { PassthroughSubject() }.autoconnect().eraseToAnyPublisher(),
      source.makeConnectable().autoconnect().eraseToAnyPublisher(),
    ]
    for publisher in shared {
      made = 0
      #expect(publisher.prefix(3).record().values == [1, 2, 3])
      #expect(made < 5)
      // The next subscriber connects again.
      #expect(publisher.first().record().completion == .finished)
      #expect(made < 9)
    }
  }

  @Test func `after the completion, autoconnect doesn't connect again, even without earlier subscribers`() {
    var runs = 0
    let source = Deferred {
      runs += 1
      return PassthroughSubject<Int, Never>().prefix(0).prepend(1)
    }
    let shared: [AnyPublisher<Int, Never>] = [
      source.share().eraseToAnyPublisher(), source.share(replay: 1).eraseToAnyPublisher(),
      source.share(resetOnError: true).eraseToAnyPublisher(),
      source.multicast { PassthroughSubject() }.autoconnect().eraseToAnyPublisher(),
      source.makeConnectable().autoconnect().eraseToAnyPublisher(),
    ]
    for publisher in shared {
      runs = 0
      var within: Recorder<Int, Never>?
      var subscription: (any Subscription)?
      publisher.subscribe(
        AnySubscriber<Int, Never>(
          receiveSubscription: {
            subscription = $0
            $0.request(.unlimited)
          },
          receiveCompletion: { _ in
            // A subscriber may cancel even after the completion.
            subscription?.cancel()
            within = publisher.record()
          }))
      #expect(within?.completion == .finished)
      let late = publisher.record(demand: .none)
      #expect(runs == 1)
      late.cancel()
      within?.cancel()
    }
  }

  @Test func `an own publisher that has completed is connected again once all its subscribers have cancelled`() {
    final class Own: ConnectablePublisher {
      typealias Output = Int
      typealias Failure = Never
      let subject = PassthroughSubject<Int, Never>()
      var connections = 0
      func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
        subject.receive(subscriber: subscriber)
      }
      func connect() -> any Cancellable {
        connections += 1
        return AnyCancellable {}
      }
    }
    let own = Own()
    let shared = own.autoconnect()
    var subscriptions: [any Subscription] = []
    func attach() { shared.subscribe(AnySubscriber<Int, Never>(receiveSubscription: { subscriptions.append($0) })) }
    attach()
    own.subject.send(completion: .finished)
    attach()
    #expect(own.connections == 1)
    for subscription in subscriptions { subscription.cancel() }
    attach()
    #expect(own.connections == 2)
  }

  @Test func `a subscriber that attaches after the last one left, all during connect, connects again`() {
    var runs = 0
    let source = Deferred {
      runs += 1
      return (0..<10).publisher
    }
    let shared = source.share()
    var second: Recorder<Int, Never>?
    let first = shared.prefix(2).handleEvents(receiveCompletion: { _ in second = shared.record() }).record()
    #expect(first.values == [0, 1])
    #expect(second?.values == Array(0..<10))
    #expect(second?.completion == .finished)
    #expect(runs == 2)
  }
}
