import FeedStream
import TestSupport
import Testing

@Suite("window, buffer(on:)", .settled) struct WindowTests {
  let time = MarbleTime()

  @Test func `a window holds what arrives in its time`() {
    let recorder = time.hot("-a-b--c---d-|").window(for: 4, scheduler: time).record(on: time)
    time.advance(by: 20)
    #expect(recorder.values.map { $0.record(on: time).values } == [["a", "b"], ["c"], ["d"]])
    #expect(recorder.completion == .finished)
    #expect(time.waiting == 0)
  }

  @Test func `windows by count begin with their first value`() {
    let recorder = (1...5).publisher.window(2).record(on: time)
    #expect(recorder.values.map { $0.record(on: time).values } == [[1, 2], [3, 4], [5]])
    #expect(recorder.completion == .finished)
  }

  @Test func `a window that nobody asked for waits, and the ending behind it`() {
    let recorder = (1...4).publisher.window(2).record(on: time, asking: .max(1))
    #expect(recorder.values.count == 1)
    #expect(recorder.completion == nil)
    recorder.request(.max(1))
    #expect(recorder.values.count == 2)
    #expect(recorder.completion == .finished)
  }

  @Test func `a failure fails the open window`() {
    let recorder = time.hot("a#").window(for: 4, scheduler: time).record(on: time)
    time.advance(by: 20)
    #expect(recorder.completion == .failure(Boom()))
    #expect(recorder.values[0].record(on: time).completion == .failure(Boom()))
    #expect(time.waiting == 0)
  }

  @Test func `cancelling finishes the open window and delivers no other`() {
    let recorder = time.hot("-a-b").window(for: 4, scheduler: time).record(on: time)
    time.advance(by: 2)
    recorder.cancel()
    time.advance(by: 20)
    #expect(recorder.values.count == 1)
    let window = recorder.values[0].record(on: time)
    #expect(window.values == ["a"])
    #expect(window.completion == .finished)
  }

  @Test func `buffer(on:) delivers what arrived since the last trigger`() {
    let trigger = PassthroughSubject<Void, Never>()
    let subject = PassthroughSubject<Character, Never>()
    let recorder = subject.buffer(on: trigger).record(on: time)
    for value in "ab" { subject.send(value) }
    trigger.send()
    trigger.send()
    subject.send("c")
    trigger.send(completion: .finished)
    #expect(recorder.values == [["a", "b"], ["c"]])
    #expect(recorder.completion == .finished)
  }
}
