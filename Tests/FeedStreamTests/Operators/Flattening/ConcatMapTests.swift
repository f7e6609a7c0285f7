import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ConcatMapTests {
  @Test func `concatMap loses no values of a source that ignores demand`() {
    let source = Unasked<Int>()
    var running: [PassthroughSubject<Int, Never>] = []
    let recorder = source.concatMap { _ in
      running.append(PassthroughSubject())
      return running.last!
    }.record()
    for value in 0..<3 { source.send(value) }
    source.finish()
    #expect(running.count == 1)
    for index in 0..<3 {
      running[index].send(index * 10)
      running[index].send(completion: .finished)
    }
    #expect(recorder.values == [0, 10, 20])
    #expect(recorder.completion == .finished)
  }

  @Test func `concatMap holds values that a subject sends while an inner publisher runs`() {
    let subject = PassthroughSubject<Int, Never>()
    let inner = (0..<3).map { _ in PassthroughSubject<String, Never>() }
    var mapped: [Int] = []
    let recorder = subject.concatMap { number in
      mapped.append(number)
      return inner[number]
    }.record()
    for number in 0..<3 { #expect(subject.send(number) == Delivery(delivered: 1)) }
    subject.send(completion: .finished)
    #expect(mapped == [0])
    for number in 0..<3 {
      inner[number].send("\(number)")
      inner[number].send(completion: .finished)
    }
    #expect(mapped == [0, 1, 2])
    #expect(recorder.values == ["0", "1", "2"])
    #expect(recorder.completion == .finished)
  }

  @Test func `concatMap requests everything from upstream, and maps one value at a time`() {
    var asked: [Subscribers.Demand] = []
    let recorder = (0..<3).publisher.handleEvents(receiveRequest: { asked.append($0) })
      .concatMap { [$0, $0].publisher }.record()
    #expect(recorder.values == [0, 0, 1, 1, 2, 2])
    #expect(asked == [.unlimited])
  }

  @Test func `concatMap keeps the stack flat with a hundred thousand immediate publishers`() {
    #expect((0..<100_000).publisher.eraseToAnyPublisher().concatMap { Just($0) }.pulled(.requesting) == 100_000)
  }

  @Test func `concatMap fails immediately with upstream, and cancels the inner publisher`() {
    let subject = PassthroughSubject<Int, Boom>()
    var isCancelled = false
    let recorder = subject.concatMap { _ in
      Empty<Int, Boom>(completeImmediately: false).handleEvents(receiveCancel: { isCancelled = true })
    }.record()
    subject.send(1)
    subject.send(completion: .failure(Boom()))
    #expect(recorder.failure == Boom())
    #expect(isCancelled)
  }
}

/// Delivers values without demand.
private final class Unasked<Output>: Publisher, Subscription {
  typealias Failure = Never
  private var next: ((Output) -> Void)?
  private var end: (() -> Void)?

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
    next = { _ = subscriber.receive($0) }
    end = { subscriber.receive(completion: .finished) }
    subscriber.receive(subscription: self)
  }

  func send(_ value: Output) { next?(value) }
  func finish() { end?() }
  func request(_ demand: Subscribers.Demand) {}
  func cancel() {
    next = nil
    end = nil
  }
}
