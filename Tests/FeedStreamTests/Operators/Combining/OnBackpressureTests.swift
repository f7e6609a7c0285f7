import FeedStream
import TestSupport
import Testing

@Suite("onBackpressure", .settled) struct OnBackpressureTests {
  let time = MarbleTime()
  let subject = PassthroughSubject<Int, Boom>()

  @Test func `what is not asked for is dropped and handed to the handler`() {
    var dropped: [Int] = []
    let recorder = subject.onBackpressureDrop { dropped.append($0) }.record(on: time, asking: .max(1))
    for value in 1...3 { subject.send(value) }
    recorder.request(.max(1))
    subject.send(4)
    #expect(recorder.values == [1, 4])
    #expect(dropped == [2, 3])
  }

  @Test func `the latest waits to be asked for, and the ending for it`() {
    var dropped: [Int] = []
    let recorder = subject.onBackpressureLatest { dropped.append($0) }.record(on: time, asking: .max(1))
    for value in 1...3 { subject.send(value) }
    subject.send(completion: .finished)
    #expect(recorder.values == [1])
    #expect(recorder.completion == nil)
    recorder.request(.max(1))
    #expect(recorder.values == [1, 3])
    #expect(recorder.completion == .finished)
    #expect(dropped == [2])
  }

  @Test func `a failure does not wait for the value held, which is reported`() {
    var dropped: [Int] = []
    let recorder = subject.onBackpressureLatest { dropped.append($0) }.record(on: time, asking: .none)
    subject.send(1)
    subject.send(completion: .failure(Boom()))
    #expect(recorder.values.isEmpty)
    #expect(recorder.error == Boom())
    #expect(dropped == [1])
  }

  @Test func `the first value not asked for fails the stream`() {
    var refused: [Int] = []
    let recorder = subject.onBackpressureError {
      refused.append($0)
      return Boom()
    }.record(on: time, asking: .max(1))
    for value in 1...3 { subject.send(value) }
    #expect(recorder.values == [1])
    #expect(recorder.error == Boom())
    #expect(refused == [2])
  }

  @Test func `a value that arrives while the one held is delivered comes after it`() {
    let recorder = subject.onBackpressureLatest().record(on: time, asking: .none)
    recorder.onValue = { [subject] in if $0 == 1 { subject.send(2) } }
    subject.send(1)
    recorder.request(.max(1))
    #expect(recorder.values == [1])
    recorder.request(.max(1))
    #expect(recorder.values == [1, 2])
  }
}
