import FeedStream
import FeedStreamTesting

private let late: StreamInstant.Stride = .milliseconds(2)

let publisherRows = rows {
  RuleRow("Publishers/Create", "Create", expects: { _ in .values(0..<5, then: .finished) }) { _ in
    Create<Int, Never> { emitter in
      for value in 0..<5 { emitter.send(value) }
      emitter.send(completion: .finished)
    }
  }
  RuleRow("Publishers/Deferred", "Deferred", .passesStrays, expects: { .values($0.values) }) { upstream in
    Deferred { upstream }
  }
  RuleRow("Publishers/Empty", "Empty", expects: { _ in .nothing(then: .finished) }) { _ in Empty<Int, Never>() }
  RuleRow("Publishers/Fail", "Fail", expects: { _ in .nothing(then: .fails) }) { _ in
    Fail<Int, MarbleFailure>(error: MarbleFailure())
  }
  RuleRow("Publishers/Future", "Future, at once", expects: { _ in .values([1], then: .finished) }) { _ in
    Future<Int, Never> { $0(.success(1)) }
  }
  RuleRow("Publishers/Future", "Future, later", timed: [], expects: { _ in .values([1], then: .finished) }) {
    _, time in Future<Int, Never> { promise in time.schedule { promise(.success(1)) } }
  }
  RuleRow("Publishers/Generate", "Generate", expects: { _ in .values(1...5, then: .finished) }) { _ in
    Generate(state: 0) { state in
      state += 1
      return state < 6 ? state : nil
    }
  }
  RuleRow(
    "Publishers/Interval", "Interval", timed: .dependsOnDemand, expects: { _ in .values(0..<4, then: .finished) }
  ) {
    Interval(every: late, scheduler: $1).prefix(4)
  }
  RuleRow("Publishers/Interval", "Interval without end", timed: [.dependsOnDemand, .isEndless]) {
    Interval(every: late, scheduler: $1)
  }
  RuleRow("Publishers/Just", "Just", expects: { _ in .values([1], then: .finished) }) { _ in Just(1) }
  RuleRow("Publishers/OptionalPublisher", "Optional.publisher", expects: { _ in .values([1], then: .finished) }) { _ in
    Optional(1).publisher
  }
  RuleRow("Publishers/Record", "Record", expects: { _ in .values(1...3, then: .fails) }) { _ in
    Record<Int, MarbleFailure>(output: [1, 2, 3], completion: .failure(MarbleFailure()))
  }
  RuleRow("Publishers/ResultPublisher", "Result.publisher", expects: { _ in .values([1], then: .finished) }) { _ in
    Result<Int, MarbleFailure>.success(1).publisher
  }
  RuleRow("Publishers/Sequence", "Sequence.publisher", expects: { _ in .values(1...4, then: .finished) }) { _ in
    [1, 2, 3, 4].publisher
  }
  RuleRow(
    "Publishers/Timer", "timer(every:tolerance:options:)", timed: .dependsOnDemand,
    expects: { _ in .values((1...3).map { StreamInstant(nanoseconds: $0 * 2_000_000) }, then: .finished) }
  ) {
    $1.timer(every: late).autoconnect().prefix(3)
  }
  RuleRow("Publishers/Timer", "timer(every:tolerance:options:) without end", timed: [.dependsOnDemand, .isEndless]) {
    $1.timer(every: late).autoconnect()
  }
  RuleRow("Publishers/Using", "using(_:dispose:publisher:)", .passesStrays, expects: { .values($0.values) }) {
    upstream in
    Publishers.using({ 1 }, dispose: { _ in }, publisher: { _ in upstream })
  }
}
