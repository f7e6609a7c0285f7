import FeedStream
import TestSupport
import Testing

// These tests use the loop's real clock, for milliseconds. `run` returns once nothing waits on the loop anymore, so
// each test also shows that a completed operator leaves no timer behind.
@Suite("Schedulers and timing operators on an event loop", .settled) struct OnTheLoopTests {
  let loop = EventLoop()

  @Test func `an Interval ends with its subscription`() {
    var ticks: [Int] = []
    let interval = Interval(after: .zero, every: .milliseconds(1), scheduler: loop).prefix(3)
      .sink { ticks.append($0) }
    loop.run()
    #expect(ticks == [0, 1, 2])
    interval.cancel()
  }

  @Test func `a stall of the thread is followed by one tick`() {
    var ticks = 0
    var afterStall = loop.now
    let interval = Interval(every: .milliseconds(10), scheduler: loop).prefix(4).sink { [loop] _ in
      ticks += 1
      guard ticks == 1 else { return }
      let end = loop.now.advanced(by: .milliseconds(50))
      while loop.now < end {}
      afterStall = loop.now
    }
    loop.run()
    // One tick immediately; the others come later, one per interval.
    #expect(ticks == 4)
    #expect(afterStall.distance(to: loop.now) >= .milliseconds(9))
    interval.cancel()
  }

  @Test func `a deadline that is no longer needed doesn't keep the loop running`() {
    let start = loop.now
    let value = Just(1).timeout(3_600, scheduler: loop).sink { _ in }
    let waiting = PassthroughSubject<Int, Never>().debounce(for: 3_600, scheduler: loop).timeout(3_600, scheduler: loop)
      .sink { _ in }
    let retried = Fail<Int, Boom>(error: Boom()).retry(.constant(.seconds(3_600)), scheduler: loop)
      .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
    loop.schedule {
      waiting.cancel()
      retried.cancel()
    }
    loop.run()
    #expect(start.distance(to: loop.now) < 60)
    value.cancel()
  }

  @Test func `a hundred thousand values keep their order through receive(on:) and delay`() {
    var values: [Int] = []
    let sink = (0..<100_000).publisher.receive(on: loop).delay(for: .milliseconds(1), scheduler: loop)
      .sink { values.append($0) }
    loop.run()
    #expect(values == Array(0..<100_000))
    sink.cancel()
  }
}
