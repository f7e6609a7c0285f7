import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct FlatMapTests {
  @Test func `flatMap delivers a sequence immediately, until it is cancelled`() {
    var received: [Int] = []
    var subscription: AnyCancellable?
    let subject = PassthroughSubject<Int, Never>()
    subscription = subject.flatMap { (0..<$0).publisher }.sink { value in
      received.append(value)
      if value == 2 { subscription = nil }
    }
    subject.send(10)
    #expect(received == [0, 1, 2])
    #expect(subject.send(10) == Delivery())
    withExtendedLifetime(subscription) {}
  }

  @Test func `flatMap delivers the rest of a sequence when upstream finishes in the middle`() {
    let subject = PassthroughSubject<Int, Never>()
    var log: [String] = []
    let subscription = subject.flatMap { (0..<$0).publisher }.sink { _ in
      log.append("end")
    } receiveValue: { value in
      log.append("\(value)")
      if value == 0 { subject.send(completion: .finished) }
    }
    subject.send(3)
    #expect(log == ["0", "1", "2", "end"])
    withExtendedLifetime(subscription) {}
  }

  @Test func `flatMap requests the next value when a sequence has been delivered`() {
    var asked: [Subscribers.Demand] = []
    let recorder = (1...3).publisher.handleEvents(receiveRequest: { asked.append($0) })
      .flatMap(maxPublishers: .max(1)) { [$0, $0].publisher }.record()
    #expect(recorder.values == [1, 1, 2, 2, 3, 3])
    #expect(asked == [.max(1), .max(1), .max(1), .max(1)])
    #expect(recorder.completion == .finished)
  }

  @Test func `flatMap fails with a failing Result, and an empty inner publisher delivers nothing`() {
    let results: [Result<Int, Boom>] = [.success(1), .failure(Boom()), .success(2)]
    let failing = results.publisher.setFailureType(to: Boom.self).flatMap { $0.publisher }.record()
    #expect(failing.values == [1])
    #expect(failing.failure == Boom())
    let empty = (0..<3).publisher.flatMap { _ in Empty<Int, Never>() }.record()
    #expect(empty.values.isEmpty && empty.completion == .finished)
  }

  @Test func `requesting values of flatMap(maxPublishers: .none) traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = [1, 2].publisher.flatMap(maxPublishers: .none) { Just($0) }.sink { _ in }
    }
    #expect(result?.says("flatMap(maxPublishers: .none)") == true)
    #expect(result?.says("use .max(1) or more") == true)
  }

  @Test func `flatMap(maxPublishers:) requests no more from upstream while as many values wait`() {
    var made = 0
    let values = (1...100).publisher.flatMap(maxPublishers: .max(2)) { value in
      made += 1
      return Just(value)
    }
    .record(demand: .max(3))
    #expect(made == 5)
    values.request(.max(1))
    #expect(made == 6)
    values.request(.unlimited)
    #expect(made == 100)
  }
}
