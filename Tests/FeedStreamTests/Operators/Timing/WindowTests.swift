import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct WindowTests {
  @Test func `window(for:) delivers the values of each interval`() {
    withVirtualTime { time in
      let recorder = time.hot("-a-b--c---d-|").window(for: .milliseconds(4), scheduler: time).record(on: time)
      time.run()
      #expect(recorder.values.map { $0.record(on: time).values } == [["a", "b"], ["c"], ["d"]])
      #expect(recorder.completion == .finished)
    }
  }

  @Test func `window(_:) starts a window with its first value`() {
    let recorder = (1...5).publisher.window(2).record()
    #expect(recorder.values.map { $0.record().values } == [[1, 2], [3, 4], [5]])
    #expect(recorder.completion == .finished)
  }

  @Test func `a window waits until it is requested, and the completion follows it`() {
    let recorder = (1...4).publisher.window(2).record(demand: .max(1))
    #expect(recorder.values.count == 1)
    #expect(recorder.completion == nil)
    recorder.request(.max(1))
    #expect(recorder.values.count == 2)
    #expect(recorder.completion == .finished)
  }

  @Test func `a value sent during a window's completion is in the next one, and each trigger ends one`() {
    let (subject, trigger) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Void, Never>())
    let recorder = subject.window(on: trigger).flatMap { $0.collect() }.record()
    recorder.onValue = { values in
      if values == [1] { subject.send(2) }
    }
    subject.send(1)
    trigger.send()
    subject.send(3)
    trigger.send()
    // The values 2 and 3 are in one window.
    #expect(recorder.values == [[1], [2, 3]])
    recorder.onValue = { if $0 == [4] { trigger.send() } }
    subject.send(4)
    trigger.send()
    subject.send(5)
    trigger.send(completion: .finished)
    #expect(recorder.values == [[1], [2, 3], [4], [], [5]])
    #expect(recorder.completion == .finished)
  }

  @Test func `a window that gets a value during the completion of the one before is delivered after it`() {
    let (subject, trigger) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Void, Never>())
    var events: [String] = []
    var subscriptions: [AnyCancellable] = []
    subject.window(on: trigger).sink { window in
      events.append("window")
      window.sink { _ in
        if events.count == 2 { subject.send(2) }
        events.append("end")
      } receiveValue: { value in
        events.append("\(value)")
      }.store(in: &subscriptions)
    }.store(in: &subscriptions)
    subject.send(1)
    trigger.send()
    #expect(events == ["window", "1", "end", "window", "2"])
  }

  @Test func `a value sent while a window gets its last value is in the next window`() {
    let subject = PassthroughSubject<Int, Never>()
    let recorder = subject.window(2)
      .flatMap { $0.handleEvents(receiveOutput: { if $0 == 2 { subject.send(3) } }).collect() }.record()
    for value in [1, 2, 4, 5] { subject.send(value) }
    #expect(recorder.values == [[1, 2], [3, 4]])
    subject.send(completion: .finished)
    #expect(recorder.values == [[1, 2], [3, 4], [5]])
    #expect(recorder.completion == .finished)
  }

  @Test func `windows whose values each send the next value are complete, and delivered in order`() {
    let subject = PassthroughSubject<Int, Never>()
    let recorder = subject.window(3)
      .flatMap { window in
        window.handleEvents(receiveOutput: { if $0 > 1, $0 < 9 { subject.send($0 + 1) } }).collect()
      }.record()
    subject.send(1)
    subject.send(2)
    #expect(recorder.values == [[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    recorder.cancel()
  }

  @Test func `a source that completes while a window gets its last value completes after that window`() {
    let subject = PassthroughSubject<Int, Boom>()
    let recorder = subject.window(2)
      .flatMap {
        $0.handleEvents(receiveOutput: { if $0 == 2 { subject.send(completion: .failure(Boom())) } }).collect()
      }.record()
    subject.send(1)
    subject.send(2)
    #expect(recorder.values == [[1, 2]])
    #expect(recorder.failure == Boom())
  }

  @Test func `a failure of the source fails the open window`() {
    withVirtualTime { time in
      let recorder = time.hot("a#").window(for: .milliseconds(4), scheduler: time).record(on: time)
      time.run()
      #expect(recorder.completion == .failure(MarbleFailure()))
      #expect(recorder.values[0].record(on: time).completion == .failure(MarbleFailure()))
    }
  }

  @Test func `cancelling finishes the open window and delivers no more`() {
    withVirtualTime { time in
      let recorder = time.hot("-a-b").window(for: .milliseconds(4), scheduler: time).record(on: time)
      time.advance(by: .milliseconds(2))
      recorder.cancel()
      time.run()
      #expect(recorder.values.count == 1)
      let window = recorder.values[0].record(on: time)
      #expect(window.values == ["a"])
      #expect(window.completion == .finished)
    }
  }

  @Test func `a value sent while a window is delivered comes after the value that opened it`() {
    let subject = PassthroughSubject<Int, Boom>()
    var received: [Int] = []
    var bag: [AnyCancellable] = []
    subject.window(3).sink(receiveCompletion: { _ in }) { window in
      if received.isEmpty { subject.send(2) }
      window.sink(receiveCompletion: { _ in }) { received.append($0) }.store(in: &bag)
    }.store(in: &bag)
    subject.send(1)
    subject.send(3)
    #expect(received == [1, 2, 3])
  }

  @Test func `requested windows are delivered before the source's failure`() {
    let trigger = PassthroughSubject<Void, Never>()
    let subject = PassthroughSubject<Int, Boom>()
    let recorder = subject.window(on: trigger).record()
    recorder.onValue = { [unowned recorder] _ in
      guard recorder.values.count == 2 else { return }
      trigger.send()
      subject.send(1)
      subject.send(completion: .failure(Boom()))
    }
    trigger.send()
    #expect(recorder.values.count == 3)
    #expect(recorder.failure == Boom())
    let last = recorder.values.last?.record()
    #expect(last?.values == [1])
    #expect(last?.failure == Boom())
  }
}
