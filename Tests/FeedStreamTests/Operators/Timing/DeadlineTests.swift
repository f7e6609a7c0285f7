import FeedStream
import TestSupport
import Testing

@Suite("timeout, debounce, throttle, prefix(for:)", .settled) struct DeadlineTests {
  let time = MarbleTime()

  @Test func `timeout finishes after a silence`() {
    let recorder = time.hot("-a-b-----c-|").timeout(4, scheduler: time).record(on: time)
    time.advance(by: 20)
    #expect(recorder.marbles == "-a-b---|")
    #expect(time.waiting == 0)
  }

  @Test func `timeout fails with the custom error`() {
    let recorder = time.hot("-a").timeout(4, scheduler: time, customError: { Boom() }).record(on: time)
    time.advance(by: 20)
    #expect(recorder.marbles == "-a---#")
  }

  @Test func `the time of timeout runs anew from the first request`() {
    let recorder = time.hot("------a").timeout(4, scheduler: time).record(on: time, asking: .none)
    time.advance(by: 3)
    recorder.request(.max(2))
    time.advance(by: 20)
    #expect(recorder.marbles == "------a---|")
  }

  @Test func `timeout leaves a stream alone that is never silent for so long`() {
    let recorder = time.hot("--a---b---c--|").timeout(5, scheduler: time).record(on: time)
    time.advance(by: 30)
    #expect(recorder.marbles == "--a---b---c--|")
  }

  @Test func `timeout delivers what arrived in time, however late the scheduler is`() {
    let subject = PassthroughSubject<Character, Boom>()
    let recorder = subject.timeout(4, scheduler: time).record(on: time)
    subject.send("a")
    time.stall(for: 10)
    time.advance(by: 1)
    #expect(recorder.marbles == "----------(a|)")
  }

  @Test func `timeout goes over to the fallback with the demand that is left`() {
    let recorder = time.hot("-a-------b").timeout(3, scheduler: time, fallback: time.cold("xyz|"))
      .record(on: time, asking: .max(3))
    time.advance(by: 20)
    #expect(recorder.marbles == "-a--xy-|")
    #expect(time.waiting == 0)
  }

  @Test func `cancelling a timeout stops its clock`() {
    let recorder = time.hot("").timeout(3, scheduler: time).record(on: time)
    recorder.cancel()
    #expect(time.waiting == 0)
  }

  @Test func `timeout needs a scheduler with time`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let never = PassthroughSubject<Int, Never>().timeout(.seconds(1), scheduler: ImmediateScheduler.shared)
      _ = never.sink { _ in }
    }
    #expect(result?.says("use one that has time") == true)
  }

  @Test func `debounce delivers what stands long enough`() {
    let recorder = time.hot("-a-bc-----d---|").debounce(for: 3, scheduler: time).record(on: time)
    time.advance(by: 20)
    #expect(recorder.marbles == "-------c-----d|")
  }

  @Test func `debounce drops what still waits when upstream ends`() {
    let recorder = time.hot("-a|").debounce(for: 3, scheduler: time).record(on: time)
    time.advance(by: 20)
    #expect(recorder.marbles == "--|")
    #expect(time.waiting == 0)
  }

  @Test func `debounce delivers nothing after cancel`() {
    let recorder = time.hot("-a-----|").debounce(for: 3, scheduler: time).record(on: time)
    time.advance(by: 2)
    recorder.cancel()
    time.advance(by: 20)
    #expect(recorder.marbles == "")
  }

  @Test func `debounce by nothing delivers the last value of the moment`() {
    let subject = PassthroughSubject<Character, Boom>()
    let recorder = subject.debounce(for: 0, scheduler: time).record(on: time)
    for value in "abc" { subject.send(value) }
    time.advance(by: 0)
    #expect(recorder.marbles == "c")
  }

  @Test func `throttle delivers the latest of each interval`() {
    let recorder = time.hot("-ab-cd-------e--|").throttle(for: 4, scheduler: time, latest: true).record(on: time)
    time.advance(by: 30)
    #expect(recorder.marbles == "-a---d-------e--|")
  }

  @Test func `throttle delivers the first of each interval`() {
    let recorder = time.hot("-ab-cd-------e--|").throttle(for: 4, scheduler: time, latest: false).record(on: time)
    time.advance(by: 30)
    #expect(recorder.marbles == "-a---b-------e--|")
  }

  @Test func `throttle keeps the latest even when no more is asked for`() {
    let subject = PassthroughSubject<Character, Boom>()
    let recorder = subject.throttle(for: 4, scheduler: time, latest: true).record(on: time, asking: .max(1))
    for value in "abc" { subject.send(value) }
    time.advance(by: 1)
    #expect(recorder.marbles == "c")
  }

  @Test func `throttle delivers what waits, then the ending`() {
    let recorder = time.hot("abc|").throttle(for: 4, scheduler: time, latest: true).record(on: time)
    time.advance(by: 30)
    #expect(recorder.marbles == "a---(c|)")
  }

  @Test func `prefix(for:) finishes when the time is up`() {
    var cancelled = false
    let recorder = time.hot("-a-b-c-d-|").handleEvents(receiveCancel: { cancelled = true })
      .prefix(for: 4, scheduler: time).record(on: time)
    time.advance(by: 30)
    #expect(recorder.marbles == "-a-b|")
    #expect(cancelled)
  }

  @Test func `prefix(for:) lets an earlier ending through`() {
    let recorder = time.hot("-a#").prefix(for: 4, scheduler: time).record(on: time)
    time.advance(by: 30)
    #expect(recorder.marbles == "-a#")
    #expect(time.waiting == 0)
  }
}
