import FeedStream
import TestSupport
import Testing

/// Subjects that subscribe to a publisher: which object retains which.
@Suite("A subject subscribed to a publisher", .settled) struct FedSubjectTests {
  /// A custom subject, which does nothing with its source.
  private final class Plain: Subject {
    typealias Output = Int
    typealias Failure = Never

    private let inner = PassthroughSubject<Int, Never>()
    func send(_ value: Int) -> Delivery { inner.send(value) }
    func send(completion: Subscribers.Completion<Never>) { inner.send(completion: completion) }
    func send(subscription: any Subscription) { subscription.request(.unlimited) }
    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
      inner.receive(subscriber: subscriber)
    }
  }

  private static let kinds: [@Sendable () -> any Subject<Int, Never>] = [
    { PassthroughSubject() }, { CurrentValueSubject(0) }, { ReplaySubject(count: 1) },
  ]

  private func feed<S: Subject>(_ subject: S, from source: PassthroughSubject<Int, Never>, _ log: Log) -> AnyCancellable
  where S.Output == Int, S.Failure == Never {
    source.handleEvents(receiveCancel: { log.events.append("cancelled") }).subscribe(subject)
  }

  private final class Log { var events: [String] = [] }

  @Test(arguments: kinds.indices)
  func `a released subject cancels its source, and later values are dropped`(kind: Int) {
    let (source, log) = (PassthroughSubject<Int, Never>(), Log())
    var subject: (any Subject<Int, Never>)? = Self.kinds[kind]()
    let feeding = feed(subject!, from: source, log)
    var received: [Int] = []
    var reader: AnyCancellable? = subject!.sink { received.append($0) }
    source.send(1)
    #expect(received.last == 1)
    reader = nil
    subject = nil
    #expect(log.events == ["cancelled"])
    #expect(source.send(2) == Delivery())
    withExtendedLifetime((feeding, reader)) {}
  }

  @Test(arguments: kinds.indices)
  func `a subject released during a delivery finishes that delivery, then cancels its source`(kind: Int) {
    let (source, log) = (PassthroughSubject<Int, Never>(), Log())
    var subject: (any Subject<Int, Never>)? = Self.kinds[kind]()
    let feeding = feed(subject!, from: source, log)
    var readers: [AnyCancellable] = []
    for name in ["first", "second"] {
      readers.append(
        subject!.sink { value in
          guard value > 0 else { return }
          log.events.append(name)
          // After this, only the running delivery retains the subject.
          subject = nil
          if name == "second" { readers = [] }
        })
    }
    source.send(1)
    #expect(log.events == ["first", "second", "cancelled"])
    #expect(source.send(2) == Delivery())
    withExtendedLifetime(feeding) {}
  }

  private final class Token {}

  @Test(arguments: kinds.indices, [false, true])
  func `a released subject releases its subscribers, even if its source is kept`(kind: Int, whileDelivering: Bool) {
    let (source, log) = (PassthroughSubject<Int, Never>(), Log())
    var subject: (any Subject<Int, Never>)? = Self.kinds[kind]()
    let feeding = feed(subject!, from: source, log)
    weak var witness: Token?
    do {
      let token = Token()
      witness = token
      // The source releases its subscription, and with it the subject.
      subject!.subscribe(
        AnySubscriber(
          receiveSubscription: { $0.request(.unlimited) },
          receiveValue: { value in
            withExtendedLifetime(token) {}
            if value > 0 { subject = nil }
            return .none
          }))
    }
    #expect(witness != nil)
    if whileDelivering { source.send(1) } else { subject = nil }
    #expect(witness == nil)
    #expect(log.events == ["cancelled"])
    withExtendedLifetime(feeding) {}
  }

  @Test func `a released custom subject receives nothing`() {
    let source = PassthroughSubject<Int, Never>()
    var subject: Plain? = Plain()
    weak let witness = subject
    let feeding = source.subscribe(subject!)
    var received: [Int] = []
    do {
      let reader = subject!.sink { received.append($0) }
      source.send(1)
      withExtendedLifetime(reader) {}
    }
    subject = nil
    #expect(witness == nil)
    source.send(2)
    #expect(received == [1])
    withExtendedLifetime(feeding) {}
  }
}
