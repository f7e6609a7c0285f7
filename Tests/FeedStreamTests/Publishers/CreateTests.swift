import FeedStream
import TestSupport
import Testing

@Suite(.settled) struct CreateTests {
  private let time = MarbleTime()

  @Test func `what is sent before it is asked for is held, and the ending follows it`() {
    let publisher = Publishers.Create<Int, Never> { emitter in
      emitter.send(1)
      emitter.send(2)
      emitter.send(completion: .finished)
      emitter.send(3)
    }
    let recorder = publisher.record(on: time, asking: .none)
    #expect(recorder.marbles == "")
    recorder.request(.max(3))
    #expect(recorder.marbles == "(12|)")
    let empty = Publishers.Create<Int, Never> { $0.send(completion: .finished) }
    #expect(empty.record(on: time, asking: .none).marbles == "|")
  }

  @Test func `of what does not fit the strategy decides`() {
    func held(_ strategy: Publishers.BufferingStrategy<Boom>) -> String {
      let publisher = Publishers.Create<Int, Boom>(size: 2, whenFull: strategy) { emitter in
        for value in 1...4 { emitter.send(value) }
      }
      let recorder = publisher.record(on: time, asking: .none)
      recorder.request(.max(4))
      return recorder.marbles
    }
    #expect(held(.dropNewest) == "(12)")
    #expect(held(.dropOldest) == "(34)")
    #expect(held(.customError { Boom() }) == "(12#)")
  }

  @Test func `nothing runs for a subscriber that cancels as it is subscribed`() {
    var runs = 0
    let publisher = Publishers.Create<Int, Never> { emitter in
      runs += 1
      emitter.send(1)
    }
    let recorder = publisher.handleEvents(receiveSubscription: { $0.cancel() }).record(on: time)
    #expect(runs == 0)
    #expect(recorder.values.isEmpty)
  }

  @Test func `the clean-up runs once: at the cancellation, at the ending, or at once when that is past`() {
    var cleaned = 0
    var emitter: Publishers.Create<Int, Never>.Emitter?
    let publisher = Publishers.Create<Int, Never> {
      emitter = $0
      $0.onCancel { cleaned += 1 }
    }
    let recorder = publisher.record(on: time)
    emitter?.send(1)
    recorder.cancel()
    recorder.cancel()
    emitter?.send(2)
    emitter?.send(completion: .finished)
    #expect(recorder.marbles == "1")
    #expect(cleaned == 1)
    #expect(emitter?.isActive == false)
    emitter?.onCancel { cleaned += 1 }
    #expect(cleaned == 2)

    _ = publisher.record(on: time)
    emitter?.send(completion: .finished)
    #expect(cleaned == 3)
  }

  @Test func `a resource lives from the subscription to its end`() {
    var open = 0
    let subject = PassthroughSubject<Int, Never>()
    let publisher = Publishers.using {
      open += 1
    } dispose: {
      open -= 1
    } publisher: {
      subject
    }
    #expect(open == 0)
    let first = publisher.record(on: time)
    let second = publisher.record(on: time)
    #expect(open == 2)
    first.cancel()
    first.cancel()
    #expect(open == 1)
    subject.send(completion: .finished)
    second.cancel()
    #expect(open == 0)
  }
}
