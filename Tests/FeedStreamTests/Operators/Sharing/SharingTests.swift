import FeedStream
import TestSupport
import Testing

@Suite(.settled) struct SharingTests {
  private let time = MarbleTime()

  @Test func `a multicast delivers to all from one subscription, between connect and its cancellation`() {
    var subscriptions = 0
    let source = PassthroughSubject<Int, Never>()
    let multicast = source.handleEvents(receiveSubscription: { _ in subscriptions += 1 })
      .multicast { PassthroughSubject() }
    let first = multicast.record(on: time)
    let second = multicast.record(on: time)
    source.send(1)
    let connection = multicast.connect()
    source.send(2)
    connection.cancel()
    source.send(3)
    #expect(first.values == [2])
    #expect(second.values == [2])
    #expect(subscriptions == 1)
  }

  @Test func `autoconnect connects once, even when one subscriber attaches within another's subscribing`() {
    let source = PassthroughSubject<Int, Never>()
    var connected = 0
    let shared = source.handleEvents(
      receiveSubscription: { _ in connected += 1 }, receiveCancel: { connected -= 1 }
    )
    .makeConnectable().autoconnect()
    var inner: Recorder<Int, Never>?
    let time = time
    let outer = AnySubscriber<Int, Never>(receiveSubscription: {
      inner = shared.record(on: time)
      $0.cancel()
    })
    shared.subscribe(outer)
    #expect(connected == 1)
    source.send(1)
    #expect(inner?.values == [1])
    inner?.cancel()
    #expect(connected == 0)
  }

  @Test func `the last subscriber's cancellation stops upstream, and a later subscriber starts it again`() {
    var active = 0
    let source = PassthroughSubject<Int, Never>()
    let shared = source.handleEvents(receiveSubscription: { _ in active += 1 }, receiveCancel: { active -= 1 }).share()
    let first = shared.record(on: time)
    let second = shared.record(on: time)
    first.cancel()
    first.cancel()
    #expect(active == 1)
    second.cancel()
    #expect(active == 0)
    let third = shared.record(on: time)
    source.send(1)
    #expect(third.values == [1])
    #expect(active == 1)
  }

  @Test func `share(replay:) gives those who come later the last values first`() {
    let source = PassthroughSubject<Int, Never>()
    let shared = source.share(replay: 2)
    let early = shared.record(on: time)
    for value in 1...3 { source.send(value) }
    let late = shared.record(on: time)
    source.send(completion: .finished)
    #expect(early.marbles == "(123|)")
    #expect(late.marbles == "(23|)")
    #expect(shared.record(on: time).marbles == "(23|)")
  }

  @Test func `connecting again and again keeps nothing of the connections that are over`() {
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
    for _ in 1...1_000 { shared.record(on: time).cancel() }
    #expect(witness.seen.count == 1_000)
    #expect(witness.seen.count { $0.subscription != nil } <= 64)
  }
}
