import FeedStream
import TestSupport
import Testing

@Suite(.settled) struct TimerTests {
  @Test func `timers with equal deadlines fire in the order they were scheduled`() {
    withLoop { loop in
      let log = Log<Int>()
      let deadline = loop.now.advanced(by: .milliseconds(3))
      for number in 0..<200 { loop.schedule(after: deadline) { log.note(number) } }
      loop.run()
      #expect(log.entries == Array(0..<200))
    }
  }

  @Test func `timers fire in the order of their deadlines, to the nanosecond`() {
    withLoop { loop in
      let log = Log<Int>()
      let start = loop.now
      for number in (0..<100).reversed() {
        loop.schedule(after: start.advanced(by: .nanoseconds(500_000 + number))) { log.note(number) }
      }
      loop.run()
      #expect(log.entries == Array(0..<100))
    }
  }

  @Test(arguments: [0, 1, 300, 999, 1000, 1500, 2001, 7777])
  func `a timer never fires early`(microseconds: Int) {
    withLoop { loop in
      for _ in 0..<20 {
        let deadline = loop.now.advanced(by: .microseconds(microseconds))
        loop.schedule(after: deadline) { #expect(loop.now >= deadline) }
        loop.run()
      }
    }
  }

  @Test func `a past deadline fires on the next turn, after earlier deadlines`() {
    withLoop { loop in
      let log = Log<String>()
      loop.schedule {
        let start = loop.now
        stall(milliseconds: 2)
        loop.schedule(after: start.advanced(by: .nanoseconds(2))) { log.note("later") }
        loop.schedule(after: start.advanced(by: .nanoseconds(1))) { log.note("earlier") }
        log.note("turn")
      }
      loop.run(.oneTurn)
      #expect(log.entries == ["turn"])
      loop.run()
      #expect(log.entries == ["turn", "earlier", "later"])
    }
  }

  @Test func `a timer without delay, set by a timer, fires on the next turn without a millisecond's wait`() {
    withLoop { loop in
      // On a busy machine, a single run may take longer.
      var shortest = StreamInstant.Stride.seconds(3600)
      for _ in 1...5 where shortest >= .seconds(1) {
        let log = Log<Int>()
        func again(_ number: Int) {
          loop.schedule(after: loop.now) {
            log.note(number)
            if number < 2_000 { again(number + 1) }
          }
        }
        again(1)
        let start = loop.now
        loop.run()
        #expect(log.entries.count == 2_000)
        shortest = min(shortest, start.distance(to: loop.now))
      }
      // At a millisecond each, the timers would take two seconds.
      #expect(shortest < .seconds(1))
    }
  }

  @Test func `timers without delay don't starve scheduled work or descriptors`() throws {
    try withLoop { loop in
      let sockets = SocketPair()
      let log = Log<String>()
      let poll = try PollHandle(on: loop, fileDescriptor: sockets.near)
      try poll.start(.readable) { _, _ in
        log.note(sockets.receive())
        loop.stop()
      }
      func again() { loop.schedule(after: StreamInstant(nanoseconds: 0)) { again() } }
      again()
      loop.schedule {
        log.note("work")
        sockets.send("descriptor")
      }
      loop.run()
      #expect(log.entries == ["work", "descriptor"])
    }
  }

  @Test func `a repeating timer keeps its interval, however long its action takes`() {
    withLoop { loop in
      let log = Log<Int64>()
      let start = loop.now
      var timer: (any Cancellable)?
      timer = loop.schedule(after: start.advanced(by: .milliseconds(50)), interval: .milliseconds(50)) {
        log.note(start.distance(to: loop.now).nanoseconds)
        stall(milliseconds: 20)
        if log.entries.count == 10 { timer?.cancel() }
      }
      loop.run()
      #expect(log.entries.count == 10)
      for (index, elapsed) in log.entries.enumerated() { #expect(elapsed >= Int64(index + 1) * 50_000_000) }
      // If a tick waited for 50 ms after the previous action, all ticks would be at least 70 ms apart. A busy machine
      // delays and skips ticks, but not in such a regular way.
      #expect(zip(log.entries, log.entries.dropFirst()).contains { $1 - $0 < 70_000_000 }, "\(log.entries)")
    }
  }

  @Test func `after a stall, a repeating timer fires once, not once per missed tick`() {
    withLoop { loop in
      let start = loop.now
      let log = Log<Int64>()
      var timer: (any Cancellable)?
      timer = loop.schedule(after: start.advanced(by: .milliseconds(10)), interval: .milliseconds(10)) {
        log.note(start.distance(to: loop.now).nanoseconds / 10_000_000)
        if log.entries.count == 1 { stall(milliseconds: 105) }
        if log.entries.count == 4 { timer?.cancel() }
      }
      loop.run()
      #expect(log.entries.count == 4)
      // After one late tick, the rhythm continues as before: no two ticks are in one interval.
      #expect(log.entries[1] - log.entries[0] >= 10)
      #expect(Set(log.entries).count == 4)
    }
  }

  @Test func `a repeating timer with a past start doesn't catch up`() {
    withLoop { loop in
      var count = 0
      let timer = loop.schedule(after: StreamInstant(nanoseconds: .min), interval: .seconds(3600)) { count += 1 }
      loop.schedule(after: loop.now.advanced(by: .milliseconds(5))) { loop.stop() }
      loop.run()
      #expect(count == 1)
      timer.cancel()
    }
  }

  @Test func `a cancelled timer doesn't fire or keep the loop alive, and releases its action`() {
    withLoop { loop in
      let object = Log<Int>()
      weak var held: Log<Int>?
      let timer: any Cancellable
      do {
        let object = Log<Int>()
        held = object
        timer = loop.schedule(after: loop.now.advanced(by: .seconds(3600)), interval: .seconds(1)) { object.note(1) }
      }
      #expect(held != nil)
      timer.cancel()
      timer.cancel()
      #expect(held == nil)
      loop.run()
      #expect(object.entries.isEmpty)
    }
  }

  @Test func `a timer can cancel another one that is due at the same time`() {
    withLoop { loop in
      let log = Log<String>()
      let deadline = loop.now.advanced(by: .milliseconds(1))
      var second: (any Cancellable)?
      loop.schedule(after: deadline) {
        log.note("first")
        second?.cancel()
      }
      second = loop.schedule(after: deadline, interval: .seconds(1)) { log.note("second") }
      loop.run()
      #expect(log.entries == ["first"])
    }
  }

  @Test func `a loop timer has one deadline, the one set last`() {
    withLoop { loop in
      let log = Log<Int64>()
      let start = loop.now
      let timer = LoopTimer(on: loop) { log.note(start.distance(to: loop.now).nanoseconds) }
      timer.start(after: .seconds(3600))
      timer.start(after: .milliseconds(4))
      #expect(timer.isActive)
      loop.run()
      #expect(log.entries.count == 1)
      #expect(log.entries.allSatisfy { $0 >= 4_000_000 })
      #expect(!timer.isActive)
      timer.start(after: .milliseconds(1))
      timer.stop()
      loop.run()
      #expect(log.entries.count == 1)
    }
  }

  @Test func `a loop timer without delay fires on the next turn, even when its own handler sets it`() {
    withLoop { loop in
      var turns = 0
      var timer: LoopTimer?
      timer = LoopTimer(on: loop) {
        turns += 1
        if turns < 3 { timer?.start(after: .nanoseconds(0)) }
      }
      timer?.start(after: .nanoseconds(0))
      #expect(turns == 0)
      for turn in 1...3 {
        loop.run(.oneTurn)
        #expect(turns == turn)
      }
      timer = nil
    }
  }

  @Test func `a loop timer without delay fires immediately, whatever other timers wait for`() {
    withLoop { loop in
      for _ in 0..<100 {
        var hasFired = false
        let timer = LoopTimer(on: loop) { hasFired = true }
        loop.schedule(after: loop.now.advanced(by: .microseconds(100))) {}
        stall(microseconds: 200)
        timer.start(after: .nanoseconds(0))
        loop.run(.oneTurn)
        #expect(hasFired)
      }
    }
  }

  @Test func `a stream that is cancelled because its loop is released may cancel a timer`() async {
    await #expect(processExitsWith: .success) {
      weak var released: EventLoop?
      do {
        let loop = EventLoop()
        released = loop
        let timer = loop.schedule(after: loop.now, interval: .seconds(1)) {}
        loop.whenClosed(ObjectIdentifier(loop)) { timer.cancel() }
      }
      #expect(released == nil)
    }
  }

  @Test func `releasing a loop timer stops it`() {
    withLoop { loop in
      var timer: LoopTimer? = LoopTimer(on: loop) { Issue.record("a released timer fired") }
      timer?.start(after: .seconds(3600))
      timer = nil
      loop.run()
    }
  }
}
