import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct CreateTests {
  @Test func `Create holds values sent before demand, then completes`() {
    let publisher = Create<Int, Never> { emitter in
      emitter.send(1)
      emitter.send(2)
      emitter.send(completion: .finished)
      emitter.send(3)
    }
    let recorder = publisher.record(demand: .none)
    recorder.expect("")
    recorder.request(.max(3))
    recorder.expect("(12|)")
    let empty = Create<Int, Never> { $0.send(completion: .finished) }
    empty.record(demand: .none).expect("|")
  }

  @Test func `Create's strategy decides about values that exceed its buffer`() {
    func expect(_ marbles: String, _ strategy: Publishers.BufferingStrategy<MarbleFailure>) {
      let publisher = Create<Int, MarbleFailure>(size: 2, whenFull: strategy) { emitter in
        for value in 1...4 { emitter.send(value) }
      }
      let recorder = publisher.record(demand: .none)
      recorder.request(.max(4))
      recorder.expect(marbles)
    }
    expect("(12)", .dropNewest)
    expect("(34)", .dropOldest)
    expect("(12#)", .customError { MarbleFailure() })
  }

  @Test func `Create's closure doesn't run for a subscriber that cancels on subscription`() {
    var runs = 0
    let publisher = Create<Int, Never> { emitter in
      runs += 1
      emitter.send(1)
    }
    let recorder = publisher.handleEvents(receiveSubscription: { $0.cancel() }).record()
    #expect(runs == 0)
    #expect(recorder.values.isEmpty)
  }

  @Test func `the cleanup runs once: on cancellation, on completion, or immediately if it is set later`() {
    var cleaned = 0
    var emitter: Create<Int, Never>.Emitter?
    let publisher = Create<Int, Never> {
      emitter = $0
      $0.onCancel { cleaned += 1 }
    }
    let recorder = publisher.record()
    emitter?.send(1)
    recorder.cancel()
    recorder.cancel()
    emitter?.send(2)
    emitter?.send(completion: .finished)
    recorder.expect("1")
    #expect(cleaned == 1)
    #expect(emitter?.isActive == false)
    emitter?.onCancel { cleaned += 1 }
    #expect(cleaned == 2)

    _ = publisher.record()
    emitter?.send(completion: .finished)
    #expect(cleaned == 3)
  }
}
