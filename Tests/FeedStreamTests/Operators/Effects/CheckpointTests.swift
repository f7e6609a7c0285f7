import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.serialized, .settled) struct CheckpointTests {
  @Test func `a trap names the nearest checkpoint below the operator`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let subject = PassthroughSubject<Int, Never>()
      let recorder = subject.tryMap { $0 }.scan(0, +).checkpoint("near").map { $0 }.checkpoint("far")
        .record(demand: .none)
      recorder.request(.none)
    }
    #expect(result?.says("TryMap, checkpoint \"near\" at FeedStreamTests/CheckpointTests.swift:") == true)
    #expect(result?.says("\"far\"") == false)
  }

  @Test func `a checkpoint is found inside flatMap`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let inner = PassthroughSubject<Int, Never>()
      let breaker = inner.handleEvents(receiveSubscription: { $0.request(.none) })
      let cancellable = Just(1).flatMap { _ in breaker }.eraseToAnyPublisher().checkpoint("outer").sink { _ in }
      cancellable.cancel()
    }
    #expect(result?.says("PassthroughSubject, checkpoint \"outer\"") == true)
  }

  @Test func `a timeout's error names where the timeout was made and the nearest checkpoint`() {
    withVirtualTime { time in
      let recorder = PassthroughSubject<Int, any Error>()
        .timeout(.milliseconds(2), scheduler: time) { $0 }.map { $0 }.checkpoint("load").record(on: time)
      time.run()
      let error = recorder.failure as? TimedOut
      #expect(error?.place.file == "FeedStreamTests/CheckpointTests.swift")
      #expect(error?.checkpoint?.name == "load")
      #expect(error?.description.contains("nothing arrived in time, checkpoint \"load\" at FeedStreamTests/") == true)
    }
  }

  @Test func `without a checkpoint, a timeout's error names only the timeout`() {
    withVirtualTime { time in
      let recorder = PassthroughSubject<Int, any Error>()
        .timeout(.milliseconds(2), scheduler: time) { $0 }.record(on: time)
      time.run()
      #expect((recorder.failure as? TimedOut)?.checkpoint == nil)
    }
  }

  @Test func `an unhandled failure lists the checkpoints it passed`() {
    let failures = Journal<String>()
    StreamDiagnostics.onUnhandledFailure { failure in
      failures.note("\(failure.source) \(failure.error) \(failure.checkpoints.map(\.name))")
    }
    defer { StreamDiagnostics.onUnhandledFailure(nil) }
    let owner = Owner()
    let subject = PassthroughSubject<Int, Boom>()
    owner.cancellable = subject.checkpoint("first").map { $0 }.checkpoint("second")
      .sink(on: owner) { owner, value in owner.seen.append(value) }
    subject.send(1)
    subject.send(completion: .failure(Boom()))
    #expect(owner.seen == [1])
    #expect(failures.entries == ["Sink Boom() [\"first\", \"second\"]"])
  }

  @Test func `a handled failure isn't reported`() {
    let failures = Journal<String>()
    StreamDiagnostics.onUnhandledFailure { failures.note("\($0)") }
    defer { StreamDiagnostics.onUnhandledFailure(nil) }
    let owner = Owner()
    var endings = 0
    owner.cancellable = Fail<Int, Boom>(error: Boom()).checkpoint("here")
      .sink(on: owner, receiveCompletion: { _, _ in endings += 1 }, receiveValue: { _, _ in })
    #expect(endings == 1)
    #expect(failures.entries.isEmpty)
  }

  @Test func `assertNoFailure's message lists the checkpoints`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Fail<Int, Boom>(error: Boom()).checkpoint("load").assertNoFailure().sink { _ in }
    }
    #expect(result?.says("assertNoFailure, checkpoint \"load\" at FeedStreamTests/CheckpointTests.swift:") == true)
    #expect(result?.says("AssertNoFailure: unhandled failure Boom()") == true)
  }

  @Test func `the trap for request(.none) names the checkpoint below the publisher`() async {
    for publisher in ["Just", "Future", "Interval"] {
      #expect(await trapOf(publisher)?.says("\(publisher), checkpoint \"here\" at FeedStreamTests/") == true)
    }
  }

  private func trapOf(_ publisher: String) async -> ExitTest.Result? {
    await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [publisher] in
      let none = AnySubscriber<Int, Never>(receiveSubscription: { $0.request(.none) })
      switch publisher {
      case "Just": Just(1).checkpoint("here").subscribe(none)
      case "Future": Future { $0(.success(1)) }.checkpoint("here").subscribe(none)
      default: Interval(every: 1, scheduler: VirtualTimeScheduler()).checkpoint("here").subscribe(none)
      }
    }
  }

  @Test func `a checkpoint passes all events through`() {
    withVirtualTime { time in
      let recorder = time.cold("ab#").checkpoint().record(on: time)
      time.run()
      recorder.expect("ab#")
    }
  }
}

private final class Owner {
  var seen: [Int] = []
  var cancellable: AnyCancellable?
}
