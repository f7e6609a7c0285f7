import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct MaterializeTests {
  @Test func `materialize delivers the completion as a value that waits for a request`() {
    withVirtualTime { time in
      let recorder = time.cold("a#").materialize().record(on: time, demand: .max(1))
      time.advance(by: .milliseconds(2))
      #expect(recorder.values == [.value("a")])
      #expect(recorder.completion == nil)
      recorder.request(.max(1))
      #expect(recorder.values == [.value("a"), .completion(.failure(MarbleFailure()))])
      #expect(recorder.completion == .finished)
    }
  }

  @Test func `a completion sent during a delivery waits for the demand that the subscriber returns`() {
    let subject = PassthroughSubject<Int, Boom>()
    let recorder = subject.materialize().record(demand: .oneByOne)
    recorder.onValue = { _ in subject.send(completion: .failure(Boom())) }
    subject.send(1)
    #expect(recorder.values.count == 2)
    #expect(recorder.completion == .finished)
  }

  @Test func `dematerialize reverses materialize`() {
    withVirtualTime { time in
      let recorder = time.cold("ab#").materialize().dematerialize().record(on: time)
      time.run()
      recorder.expect("ab#")
    }
  }

  @Test func `a completion signal cancels upstream of dematerialize`() {
    let subject = PassthroughSubject<Signal<Int, Boom>, Never>()
    var isCancelled = false
    let recorder = subject.handleEvents(receiveCancel: { isCancelled = true }).dematerialize().record()
    subject.send(.value(1))
    subject.send(.completion(.finished))
    subject.send(.value(2))
    #expect(recorder.values == [1])
    #expect(recorder.completion == .finished)
    #expect(isCancelled)
  }

  @Test func `a completion signal needs no demand`() {
    let signals = [Signal<Int, Boom>.value(1), .completion(.finished)].publisher
    let recorder = signals.dematerialize().record(demand: .max(1))
    #expect(recorder.values == [1])
    #expect(recorder.completion == .finished)
  }

  @Test func `dematerialize holds a value until it is requested, then completes`() {
    let signals = [Signal<Int, Boom>.value(1), .value(2), .completion(.failure(Boom()))].publisher
    let recorder = signals.dematerialize().record(demand: .max(1))
    #expect(recorder.values == [1])
    #expect(recorder.completion == nil)
    recorder.request(.max(1))
    #expect(recorder.values == [1, 2])
    #expect(recorder.failure == Boom())
  }

  @Test func `dematerialize delivers a held value when the previous one's returned demand requests it`() {
    let signals = PassthroughSubject<Signal<Int, Never>, Never>()
    let recorder = signals.dematerialize().record(demand: .oneByOne)
    recorder.onValue = { if $0 == 1 { signals.send(.value(2)) } }
    signals.send(.value(1))
    #expect(recorder.values == [1, 2])
    signals.send(.value(3))
    #expect(recorder.values == [1, 2, 3])
    signals.send(.completion(.finished))
    #expect(recorder.completion == .finished)
  }
}
