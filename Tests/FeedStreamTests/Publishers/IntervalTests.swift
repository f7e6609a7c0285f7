import FeedStream
import TestSupport
import Testing

@Suite("Interval, Timer, sample, collect by time", .settled) struct IntervalTests {
  let time = MarbleTime()

  @Test func `an interval counts`() {
    let recorder = Publishers.Interval(every: 3, scheduler: time).record(on: time)
    time.advance(by: 10)
    #expect(recorder.marbles == "---0--1--2")
    recorder.cancel()
    #expect(time.waiting == 0)
  }

  @Test func `an interval may start at once`() {
    let recorder = Publishers.Interval(after: .zero, every: 3, scheduler: time).record(on: time)
    time.advance(by: 7)
    #expect(recorder.marbles == "0--1--2")
  }

  @Test func `a tick that nobody asked for leaves a gap`() {
    let recorder = Publishers.Interval(every: 2, scheduler: time).record(on: time, asking: .max(1))
    time.advance(by: 7)
    recorder.request(.max(1))
    time.advance(by: 3)
    #expect(recorder.marbles == "--0-----3")
  }

  @Test func `a stall is followed by one tick, not by a burst`() {
    let recorder = Publishers.Interval(every: 2, scheduler: time).record(on: time)
    time.stall(for: 9)
    time.advance(by: 4)
    #expect(recorder.marbles == "---------0-1-2")
  }

  @Test func `cancelling within a tick stops the ticks`() {
    let recorder = Publishers.Interval(every: 1, scheduler: time).record(on: time)
    recorder.onValue = { _ in recorder.cancel() }
    time.advance(by: 5)
    #expect(recorder.marbles == "-0")
    #expect(time.waiting == 0)
  }

  @Test func `an interval of nothing traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Publishers.Interval(every: 0, scheduler: ImmediateScheduler.shared)
    }
    #expect(result?.says("use more than 0") == true)
  }

  @Test func `an interval needs a scheduler with time`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Publishers.Interval(every: 5, scheduler: ImmediateScheduler.shared).sink { _ in }
    }
    #expect(result?.says("use one that has time") == true)
  }

  @Test func `a timer with autoconnect runs from its first subscriber to its last cancellation`() {
    let recorder = time.timer(every: 2).autoconnect().map { _ in "x" }.record(on: time)
    time.advance(by: 4)
    recorder.cancel()
    time.advance(by: 4)
    #expect(recorder.marbles == "--x-x")
    #expect(time.waiting == 0)
  }

  @Test func `a timer ticks for all its subscribers while connected`() {
    let timer = time.timer(every: 2)
    let first = timer.map { _ in "x" }.record(on: time)
    time.advance(by: 3)
    let connection = timer.connect()
    let second = timer.map { _ in "y" }.record(on: time)
    time.advance(by: 4)
    connection.cancel()
    time.advance(by: 10)
    #expect(first.marbles == "-----x-x")
    #expect(second.marbles == "-----y-y")
    #expect(time.waiting == 0)
  }

  @Test func `a timer runs until its last connection is cancelled`() {
    let timer = time.timer(every: 1)
    let recorder = timer.map { _ in "x" }.record(on: time)
    let connections = [timer.connect(), timer.connect()]
    connections[0].cancel()
    connections[0].cancel()
    time.advance(by: 2)
    connections[1].cancel()
    time.advance(by: 5)
    #expect(recorder.marbles == "-xx")
  }

  @Test func `sample delivers the latest value, once`() {
    let recorder = time.hot("-a-b-----c-d-|").sample(every: 4, scheduler: time).record(on: time)
    time.advance(by: 30)
    #expect(recorder.marbles == "----b-------d|")
    #expect(time.waiting == 0)
  }

  @Test func `sample keeps the latest value until it is asked for`() {
    let subject = PassthroughSubject<Character, Never>()
    let trigger = PassthroughSubject<Void, Never>()
    let recorder = subject.sample(on: trigger).record(on: time, asking: .none)
    subject.send("a")
    trigger.send()
    recorder.request(.max(1))
    #expect(recorder.marbles == "")
    trigger.send()
    #expect(recorder.marbles == "a")
    trigger.send(completion: .finished)
    #expect(recorder.marbles == "(a|)")
  }

  @Test func `collect by time makes an array of each stretch`() {
    let recorder = time.hot("-a-b-c-----------d|").collect(.byTime(time, 4)).record(on: time)
    time.advance(by: 30)
    #expect(recorder.values == [["a", "b"], ["c"], ["d"]])
    #expect(recorder.marbles == "----[ab]---[c]---------([d]|)")
    #expect(time.waiting == 0)
  }

  @Test func `collect by time or count makes an array when there is enough`() {
    let recorder = time.hot("-abcd--e|").collect(.byTimeOrCount(time, 6, 3)).record(on: time)
    time.advance(by: 30)
    #expect(recorder.marbles == "---[abc]--[d]-([e]|)")
  }

  @Test func `collect by time keeps what is not asked for, the ending behind it`() {
    let recorder = time.hot("-a-b-c|").collect(.byTime(time, 2)).record(on: time, asking: .max(1))
    time.advance(by: 10)
    #expect(recorder.marbles == "--[a]")
    recorder.request(.max(1))
    #expect(recorder.values == [["a"], ["b", "c"]])
    #expect(recorder.completion == .finished)
  }

  @Test func `collect by time or count asks upstream for full arrays`() {
    var asked: [Subscribers.Demand] = []
    let recorder = time.hot("").handleEvents(receiveRequest: { asked.append($0) })
      .collect(.byTimeOrCount(time, 6, 3)).record(on: time, asking: .max(2))
    recorder.request(.max(1))
    #expect(asked == [.max(6), .max(3)])
  }

  @Test func `collect by time drops what it has when upstream fails`() {
    let recorder = time.hot("-a#").collect(.byTime(time, 4)).record(on: time)
    time.advance(by: 10)
    #expect(recorder.marbles == "--#")
  }
}
