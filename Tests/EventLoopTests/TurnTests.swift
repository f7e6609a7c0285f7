import CLibrary
import FeedStream
import TestSupport
import Testing

@Suite(.settled) struct TurnTests {
  @Test func `scheduled work runs in the order scheduled, and never before schedule returns`() {
    withLoop { loop in
      let log = Log<Int>()
      for number in 0..<100 { loop.schedule { log.note(number) } }
      #expect(log.entries.isEmpty)
      loop.run()
      #expect(log.entries == Array(0..<100))
    }
  }

  @Test func `work scheduled during a turn waits for the next turn`() {
    withLoop { loop in
      let log = Log<String>()
      loop.schedule {
        log.note("first")
        loop.schedule { log.note("second") }
      }
      loop.run(.oneTurn)
      #expect(log.entries == ["first"])
      loop.run(.oneTurn)
      #expect(log.entries == ["first", "second"])
    }
  }

  @Test func `onTurn receives the length of each turn, without waiting time`() {
    withLoop { loop in
      let log = Log<Duration>()
      loop.onTurn { log.note($0) }
      let start = ContinuousClock.now
      loop.schedule {
        usleep(20_000)
        loop.schedule(after: loop.now.advanced(by: .milliseconds(500))) {}
      }
      loop.run()
      let whole = ContinuousClock.now - start
      #expect(log.entries.contains { $0 >= .milliseconds(20) })
      // The loop waited for 500 ms, or a little less if the end of the turn took long on a busy machine.
      #expect(log.entries.reduce(.zero, +) < whole - .milliseconds(200), "\(log.entries) of \(whole)")
      let count = log.entries.count
      loop.onTurn(nil)
      loop.schedule {}
      loop.run()
      #expect(log.entries.count == count)
    }
  }

  @Test func `onTurn receives a turn that doesn't wait once`() {
    withLoop { loop in
      let log = Log<Duration>()
      loop.onTurn { log.note($0) }
      for count in 1...3 {
        loop.schedule {}
        loop.run(.oneTurn)
        #expect(log.entries.count == count)
      }
    }
  }

  @Test func `work that reschedules itself forever doesn't starve timers or descriptors`() throws {
    try withLoop { loop in
      let sockets = SocketPair()
      let log = Log<String>()
      let poll = try PollHandle(on: loop, fileDescriptor: sockets.near)
      try poll.start(.readable) { _, _ in
        log.note(sockets.receive())
        if log.entries.count == 2 { loop.stop() }
      }
      func again() { loop.schedule { again() } }
      again()
      loop.schedule(after: loop.now.advanced(by: .milliseconds(2))) {
        log.note("timer")
        sockets.send("descriptor")
      }
      loop.run()
      #expect(log.entries == ["timer", "descriptor"])
    }
  }

  @Test func `run() returns when no work is left, and can be called again`() {
    withLoop { loop in
      loop.run()
      let log = Log<Int>()
      loop.schedule { log.note(1) }
      loop.run()
      loop.schedule { log.note(2) }
      loop.run()
      #expect(log.entries == [1, 2])
    }
  }

  @Test func `stop() ends the run after the current turn and keeps scheduled work`() {
    withLoop { loop in
      let log = Log<Int>()
      loop.schedule {
        loop.schedule { log.note(2) }
        loop.stop()
        log.note(1)
      }
      loop.run()
      #expect(log.entries == [1])
      loop.run()
      #expect(log.entries == [1, 2])
    }
  }

  @Test func `stop() before a run makes that run return immediately, and only that one`() {
    withLoop { loop in
      let log = Log<Int>()
      loop.schedule { log.note(1) }
      loop.stop()
      loop.run()
      #expect(log.entries.isEmpty)
      loop.run()
      #expect(log.entries == [1])
    }
  }

  @Test func `current is the innermost running loop, and nil outside`() {
    #expect(EventLoop.current == nil)
    withLoop { outer in
      withLoop { inner in
        outer.schedule {
          #expect(EventLoop.current === outer)
          #expect(outer.isCurrent && !inner.isCurrent)
          inner.schedule { #expect(EventLoop.current === inner) }
          inner.run()
          #expect(EventLoop.current === outer)
        }
        outer.run()
        #expect(EventLoop.current == nil)
        #expect(!outer.isCurrent)
      }
    }
  }

  @Test func `touching a loop from another thread traps`() async {
    await #expect(processExitsWith: .failure) {
      let thread = try EventLoopThread()
      thread.loop.schedule {}
    }
  }
}
