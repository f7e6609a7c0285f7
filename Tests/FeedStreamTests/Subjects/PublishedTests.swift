import Dispatch
import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct PublishedTests {
  private class Model: ObservableObject {
    @Published var count = 0
    @Published var name = ""
  }
  private final class SpecialModel: Model {
    @Published var isSpecial = false
  }
  private final class Token {}

  @Test func `the publisher of Published delivers the current value, and a new one before it is set`() {
    let model = Model()
    var seen: [[Int]] = []
    let subscription = model.$count.sink { seen.append([$0, model.count]) }
    model.count = 1
    model.count += 1
    #expect(seen == [[0, 0], [1, 0], [2, 1]])
    #expect(model.count == 2)
    subscription.cancel()
  }

  @Test func `a value set while the publisher delivers another is the newer one`() {
    let model = Model()
    let subscription = model.$count.sink { if $0 == 1 { model.count = 2 } }
    model.count = 1
    #expect(model.count == 2)
    subscription.cancel()
  }

  @Test func `a value that a subscriber replaces during its delivery doesn't reach the remaining subscribers`() {
    let model = Model()
    var seen: [Int] = []
    let first = model.$count.sink { if $0 == 1 { model.count = 2 } }
    let second = model.$count.sink { seen.append($0) }
    model.count = 1
    #expect(model.count == 2)
    #expect(seen == [0, 2])
    first.cancel()
    second.cancel()
  }

  @Test func `a subscriber without demand catches up with the value that replaced another during its delivery`() {
    let model = Model()
    let first = model.$count.sink { if $0 == 1 { model.count = 2 } }
    let late = model.$count.record(demand: .max(1))
    model.count = 1
    #expect(late.values == [0])
    late.request(.unlimited)
    #expect(late.values == [0, 2])
    first.cancel()
    late.cancel()
  }

  @Test func `the object's publisher signals before a property changes`() {
    let model = SpecialModel()
    var signals: [Int] = []
    let subscription = model.objectWillChange.sink { signals.append(model.count) }
    model.count = 1
    model.isSpecial = true
    #expect(signals == [0, 1])
    #expect(model.objectWillChange === model.objectWillChange)
    subscription.cancel()
  }

  @Test func `a property that is set when the object's publisher signals agrees with its publisher`() {
    let model = Model()
    var isFirst = true
    let subscription = model.objectWillChange.sink {
      guard isFirst else { return }
      isFirst = false
      model.count = 2
    }
    model.count = 1
    #expect(model.count == 1)
    #expect(model.$count.record().values == [model.count])
    subscription.cancel()
  }

  @Test func `an object without @Published properties has one publisher`() {
    final class Plain: ObservableObject {
      var count = 0 { willSet { objectWillChange.send() } }
    }
    let (model, other) = (Plain(), Plain())
    var signals: [Int] = []
    let subscription = model.objectWillChange.sink { signals.append(model.count) }
    (model.count, other.count) = (1, 1)
    model.count = 2
    #expect(signals == [0, 1])
    #expect(model.objectWillChange !== other.objectWillChange)
    // Each object may get the memory address of a released one.
    let publishers = (0..<1_000).map { _ in ObjectIdentifier(Plain().objectWillChange) }
    #expect(publishers.allSatisfy { $0 != ObjectIdentifier(model.objectWillChange) })
    subscription.cancel()
  }

  @Test func `the publishers of released objects don't accumulate when several threads make objects`() throws {
    final class Plain: ObservableObject {}
    struct Witness { weak var publisher: ObservableObjectPublisher? }
    nonisolated(unsafe) var witnesses: [Witness] = []
    let threads = try (0..<4).map { _ in try EventLoopThread() }
    let done = DispatchSemaphore(value: 0)
    // The threads take turns.
    for turn in 0..<400 {
      threads[turn % 4].loop.execute {
        for _ in 0..<10 { witnesses.append(Witness(publisher: Plain().objectWillChange)) }
        done.signal()
      }
      done.wait()
    }
    for thread in threads { thread.shutdown() }
    let count = witnesses.count { $0.publisher != nil }
    #expect(count < 1_000)
  }

  @Test func `the object's publisher signals for a property whose storage is in the object's own mirror`() {
    final class Mirrored: ObservableObject, CustomReflectable {
      @Published var shown = 0
      @Published var hidden = 0
      var customMirror: Mirror { Mirror(self, children: ["_shown": _shown]) }
    }
    let model = Mirrored()
    var signals: [Int] = []
    let subscription = model.objectWillChange.sink { signals.append(model.shown) }
    model.hidden = 1
    model.shown = 1
    #expect(signals == [0])
    model.hidden = 2
    #expect(signals == [0])
    subscription.cancel()
  }

  @Test func `assign(to:) sets the property until its owner is released`() {
    let subject = PassthroughSubject<Int, Never>()
    do {
      let model = Model()
      subject.assign(to: &model.$count)
      #expect(subject.send(3).delivered == 1)
      #expect(model.count == 3)
    }
    #expect(subject.send(4) == Delivery())
  }

  @Test func `assign(to:) is cancelled when the owner is released, even if the property has a subscriber`() {
    let subject = PassthroughSubject<Int, Never>()
    let subscription: AnyCancellable
    do {
      let model = Model()
      subject.assign(to: &model.$count)
      subscription = model.$count.sink { _ in }
      #expect(subject.send(3).delivered == 1)
    }
    #expect(subject.send(4) == Delivery())
    subscription.cancel()
  }

  @Test func `assign(to:) releases a stream that has completed`() {
    let model = Model()
    weak var witness: Token?
    do {
      let token = Token()
      witness = token
      [1, 1, 2].publisher.removeDuplicates { [token] first, second in
        withExtendedLifetime(token) { first == second }
      }.assign(to: &model.$count)
    }
    #expect(model.count == 2)
    #expect(witness == nil)
  }

  @Test func `assign(to:) ignores values that arrive after the completion`() {
    struct Stray: Publisher {
      typealias Output = Int
      typealias Failure = Never
      func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
        subscriber.receive(subscription: Subscriptions.empty)
        _ = subscriber.receive(1)
        subscriber.receive(completion: .finished)
        _ = subscriber.receive(2)
      }
    }
    let model = Model()
    Stray().assign(to: &model.$count)
    #expect(model.count == 1)
  }

  @Test func `assign(to:) cancels a second subscription`() {
    struct Twice: Publisher {
      typealias Output = Int
      typealias Failure = Never
      let subjects: [PassthroughSubject<Int, Never>]
      func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
        for subject in subjects { subject.receive(subscriber: subscriber) }
      }
    }
    let subjects = [PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>()]
    let model = Model()
    Twice(subjects: subjects).assign(to: &model.$count)
    #expect(subjects.map(\.subscriberCount) == [1, 0])
  }
}
