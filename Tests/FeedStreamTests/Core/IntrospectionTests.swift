import FeedStream
import Synchronization
import TestSupport
import Testing

@Suite("Introspection", .settled)
struct IntrospectionTests {
  @Test func `an observer receives all events of a subscription in order, with their subscriber`() {
    let subscriber = Asking()
    let watch = Watch(subscriber)
    watch.enable()
    [1, 2].publisher.map { $0 * 10 }.subscribe(subscriber)
    watch.disable()
    #expect(
      watch.events == [
        "will attach to Sequence", "will begin", "will request max(1)", "will receive 10", "did receive 10, max(1)",
        "will receive 20", "did receive 20, max(1)", "will end finished", "did end finished", "did request max(1)",
        "did begin", "did attach to Sequence",
      ])
  }

  @Test func `an observer also receives later values and the cancellation`() {
    let subject = PassthroughSubject<Int, Never>()
    let subscriber = Asking()
    let watch = Watch(subscriber)
    watch.enable()
    subject.eraseToAnyPublisher().subscribe(AnySubscriber(subscriber))
    watch.clear()
    subject.send(1)
    subscriber.subscription?.cancel()
    subject.send(2)
    watch.disable()
    #expect(watch.events == ["will receive 1", "did receive 1, max(1)", "will cancel", "did cancel"])
  }

  @Test func `an observer is notified only of subscriptions made while it is enabled`() {
    let (early, late) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>())
    let subscriber = Asking()
    let watch = Watch(subscriber)
    early.subscribe(subscriber)
    #expect(!watch.isEnabled)
    watch.enable()
    #expect(watch.isEnabled)
    early.send(1)
    late.subscribe(subscriber)
    watch.disable()
    watch.clear()
    late.send(2)
    #expect(watch.events == [])
    #expect(subscriber.values == [1, 2])
  }

  @Test func `an observer enabled twice is notified once`() {
    let subscriber = Asking()
    let watch = Watch(subscriber)
    watch.enable()
    watch.enable()
    Empty<Int, Never>().subscribe(subscriber)
    watch.disable()
    #expect(!watch.isEnabled)
    #expect(watch.events.filter { $0 == "will end finished" }.count == 1)
  }

  @Test func `an observed subscription has the same description as an unobserved one`() {
    let subscriber = Asking()
    let watch = Watch(subscriber)
    let subject = PassthroughSubject<Int, Never>()
    watch.enable()
    subject.subscribe(subscriber)
    watch.disable()
    #expect(subscriber.subscription.map { "\($0)" } == "PassthroughSubject")
  }

  @Test func `observing retains nothing`() {
    weak var released: Asking?
    do {
      let subscriber = Asking()
      released = subscriber
      let watch = Watch(subscriber)
      watch.enable()
      PassthroughSubject<Int, Never>().subscribe(subscriber)
      watch.disable()
      subscriber.subscription = nil
    }
    #expect(released == nil)
  }
}

/// Requests one value at a time.
private final class Asking: Subscriber {
  var subscription: (any Subscription)?
  var values: [Int] = []

  func receive(subscription: any Subscription) {
    self.subscription = subscription
    subscription.request(.max(1))
  }
  func receive(_ input: Int) -> Subscribers.Demand {
    values.append(input)
    return .max(1)
  }
  func receive(completion: Subscribers.Completion<Never>) {}
}

/// Records the events of one subscriber; ignores the streams of other tests, which run at the same time.
private final class Watch: _Introspection {
  private struct State {
    var events: [String] = []
    var subscriptions: Set<CombineIdentifier> = []
  }
  private let subscriber: CombineIdentifier
  private let state = Mutex(State())

  init(_ subscriber: Asking) { self.subscriber = subscriber.combineIdentifier }

  var events: [String] { state.withLock { $0.events } }
  func clear() { state.withLock { $0.events = [] } }

  private func note(_ subscriber: some Subscriber, _ event: @autoclosure () -> String) {
    if subscriber.combineIdentifier == self.subscriber { state.withLock { $0.events.append(event()) } }
  }
  private func note(_ subscription: any Subscription, _ event: String) {
    state.withLock { if $0.subscriptions.contains(subscription.combineIdentifier) { $0.events.append(event) } }
  }
  private func name(_ publisher: Any) -> String { String("\(type(of: publisher))".prefix { $0 != "<" }) }

  func willReceive<P: Publisher, S: Subscriber>(publisher: P, subscriber: S)
  where P.Output == S.Input, P.Failure == S.Failure { note(subscriber, "will attach to \(name(publisher))") }
  func didReceive<P: Publisher, S: Subscriber>(publisher: P, subscriber: S)
  where P.Output == S.Input, P.Failure == S.Failure { note(subscriber, "did attach to \(name(publisher))") }
  func willReceive<S: Subscriber>(subscriber: S, subscription: any Subscription) {
    if subscriber.combineIdentifier == self.subscriber {
      state.withLock { _ = $0.subscriptions.insert(subscription.combineIdentifier) }
    }
    note(subscriber, "will begin")
  }
  func didReceive<S: Subscriber>(subscriber: S, subscription: any Subscription) { note(subscriber, "did begin") }
  func willReceive<S: Subscriber>(subscriber: S, input: S.Input) { note(subscriber, "will receive \(input)") }
  func didReceive<S: Subscriber>(subscriber: S, input: S.Input, resultingDemand: Subscribers.Demand) {
    note(subscriber, "did receive \(input), \(resultingDemand)")
  }
  func willReceive<S: Subscriber>(subscriber: S, completion: Subscribers.Completion<S.Failure>) {
    note(subscriber, "will end \(completion)")
  }
  func didReceive<S: Subscriber>(subscriber: S, completion: Subscribers.Completion<S.Failure>) {
    note(subscriber, "did end \(completion)")
  }
  func willRequest(subscription: any Subscription, _ demand: Subscribers.Demand) {
    note(subscription, "will request \(demand)")
  }
  func didRequest(subscription: any Subscription, _ demand: Subscribers.Demand) {
    note(subscription, "did request \(demand)")
  }
  func willCancel(subscription: any Subscription) { note(subscription, "will cancel") }
  func didCancel(subscription: any Subscription) { note(subscription, "did cancel") }
}
