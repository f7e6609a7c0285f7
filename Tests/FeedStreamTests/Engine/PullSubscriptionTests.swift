import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct PullSubscriptionTests {
  /// Counts up, and delivers as many numbers at a time as the test decides.
  private final class Counter: PullSource {
    typealias Failure = Boom
    struct Numbers: Publisher {
      typealias Output = Int
      typealias Failure = Boom
      let source: Counter
      func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Boom {
        PullSubscription("Numbers", subscriber, source).begin()
      }
    }

    var publisher: Numbers { Numbers(source: self) }
    let batch: Int
    let end: Int
    var next = 0
    var asked = 0
    var isCancelled = false

    init(batch: Int, end: Int = .max) { (self.batch, self.end) = (batch, end) }

    func wanted(by subscription: PullSubscription<Int, Boom>) -> Bool {
      asked += 1
      for _ in 0..<batch where next < end {
        subscription.hold(next)
        next += 1
      }
      if next == end { subscription.end(.finished) }
      return false
    }

    func cancelled(_: PullSubscription<Int, Boom>) { isCancelled = true }
  }

  /// Requests values when the test tells it to.
  private final class Asker: Subscriber {
    var subscription: (any Subscription)?
    var values: [Int] = []
    var completion: Subscribers.Completion<Boom>?

    init(_ source: Counter) { source.publisher.subscribe(self) }

    func request(_ count: Int) { subscription?.request(.max(count)) }
    func receive(subscription: any Subscription) { self.subscription = subscription }
    func receive(_ input: Int) -> Subscribers.Demand {
      values.append(input)
      return .none
    }
    func receive(completion: Subscribers.Completion<Boom>) {
      self.completion = completion
      subscription = nil
    }
  }

  @Test func `a pulled source is read only when more is requested than is held`() {
    let source = Counter(batch: 3)
    let asker = Asker(source)
    #expect(source.asked == 0)
    asker.request(2)
    #expect(asker.values == [0, 1] && source.asked == 1)
    asker.request(1)
    #expect(asker.values == [0, 1, 2] && source.asked == 1)
    asker.request(1)
    #expect(asker.values == [0, 1, 2, 3] && source.asked == 2)
    asker.subscription?.cancel()
    #expect(source.isCancelled)
    asker.request(5)
    #expect(asker.values.count == 4)
  }

  @Test func `the completion follows the last held value without a request`() {
    let asker = Asker(Counter(batch: 5, end: 3))
    asker.request(2)
    #expect(asker.values == [0, 1] && asker.completion == nil)
    asker.request(1)
    #expect(asker.values == [0, 1, 2])
    #expect(asker.completion == .finished)
  }

  @Test func `values pulled one by one keep the stack flat`() {
    #expect(Counter(batch: 1, end: 300_000).publisher.pulled(.requesting) == 300_000)
    #expect(Counter(batch: 1, end: 300_000).publisher.pulled(.answering) == 300_000)
  }

  @Test func `request(.none) traps with the publisher's name`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var subscription: (any Subscription)?
      PullSubscriptionTests.Counter(batch: 1).publisher.subscribe(
        AnySubscriber(receiveSubscription: { subscription = $0 }, receiveValue: { (_: Int) in .none }))
      subscription?.request(.none)
    }
    #expect(result?.says("Numbers") ?? false)
  }
}
