import CLibrary
import FeedStream
import TestSupport
import Testing

// Serialized, because signals and descriptors are process-wide.
@Suite(.settled, .serialized) struct HandleTests {
  @Test func `a poll handle reports when its descriptor is readable`() throws {
    try withLoop { loop in
      let sockets = SocketPair()
      let log = Log<String>()
      let poll = try PollHandle(on: loop, fileDescriptor: sockets.near)
      try poll.start(.readable) { events, error in
        #expect(events == .readable && error == nil)
        log.note(sockets.receive())
        poll.close()
      }
      loop.schedule { sockets.send("hello") }
      loop.run()
      #expect(log.entries == ["hello"])
    }
  }

  @Test func `a poll handle watches for the events of the latest start, and for none after stop`() throws {
    try withLoop { loop in
      let sockets = SocketPair()
      let log = Log<PollHandle.Events>()
      let poll = try PollHandle(on: loop, fileDescriptor: sockets.near)
      try poll.start(.readable) { events, _ in
        log.note(events)
        poll.stop()
      }
      try poll.start([.readable, .writable])
      loop.run()
      #expect(log.entries == [.writable])
      sockets.send("late")
      loop.run()
      #expect(log.entries == [.writable])
    }
  }

  @Test func `a poll handle reports that the peer disconnected`() throws {
    try withLoop { loop in
      let sockets = SocketPair()
      shutdown(sockets.far, Int32(SHUT_RDWR))
      var seen: PollHandle.Events = []
      let poll = try PollHandle(on: loop, fileDescriptor: sockets.near)
      try poll.start([.readable, .disconnect]) { events, _ in
        seen = events
        poll.close()
      }
      loop.run()
      #expect(seen.contains(.disconnect))
    }
  }

  @Test func `watching an invalid descriptor throws an error that states the reason`() {
    withLoop { loop in
      let error = #expect(throws: EventLoopError.self) { try PollHandle(on: loop, fileDescriptor: 99_999) }
      #expect(error?.errno == EBADF)
      #expect(error?.operation == .watchDescriptor)
      #expect(error.map { "\($0)" } == "cannot watch a file descriptor: bad file descriptor")
    }
  }

  @Test func `releasing or closing a handle ends its watch and releases its handler`() throws {
    try withLoop { loop in
      let sockets = SocketPair()
      weak var held: Log<Int>?
      var poll: PollHandle? = try PollHandle(on: loop, fileDescriptor: sockets.near)
      do {
        let log = Log<Int>()
        held = log
        try poll?.start(.readable) { _, _ in log.note(1) }
      }
      poll?.close()
      poll?.close()
      #expect(held == nil)
      #expect(poll?.isClosed == true)
      poll = try PollHandle(on: loop, fileDescriptor: sockets.near)
      try poll?.start(.readable) { _, _ in Issue.record("a released handle called back") }
      sockets.send("x")
      poll = nil
      loop.run()
    }
  }

  @Test func `a handler may release its own handle`() throws {
    try withLoop { loop in
      let sockets = SocketPair()
      let log = Log<Int>()
      var poll: PollHandle? = try PollHandle(on: loop, fileDescriptor: sockets.near)
      try poll?.start(.writable) { _, _ in
        poll = nil
        log.note(1)
      }
      loop.run()
      #expect(log.entries == [1])
    }
  }

  @Test func `a handle with keepsLoopAlive false lets the loop end`() throws {
    try withLoop { loop in
      let sockets = SocketPair()
      let poll = try PollHandle(on: loop, fileDescriptor: sockets.near)
      try poll.start(.readable) { _, _ in }
      #expect(poll.keepsLoopAlive)
      poll.keepsLoopAlive = false
      loop.run()
      #expect(!poll.isClosed)
    }
  }

  @Test func `a signal reaches all of its watches until each is cancelled`() throws {
    try withLoop { loop in
      let log = Log<String>()
      var expected = 2
      func note(_ watch: String) {
        log.note(watch)
        if log.entries.count == expected { loop.stop() }
      }
      let first = try loop.signal(SIGUSR1) { note("first") }
      let second = try loop.signal(SIGUSR1, keepsLoopAlive: true) { note("second") }
      // Signal the process, because this thread may have blocked the signal.
      kill(getpid(), SIGUSR1)
      loop.run()
      #expect(log.entries.sorted() == ["first", "second"])
      first.cancel()
      expected = 3
      kill(getpid(), SIGUSR1)
      loop.run()
      #expect(log.entries.sorted() == ["first", "second", "second"])
      second.cancel()
    }
  }

  @Test func `a signal watch keeps the loop running only if requested`() throws {
    try withLoop { loop in
      let watch = try loop.signal(SIGUSR2) {}
      loop.run()
      #expect(!watch.isClosed)
    }
  }

  @Test func `when a signal's last watch ends, the signal's previous action is restored`() throws {
    var (action, ignored) = (sigaction(), sigaction())
    signal(SIGVTALRM, SIG_IGN)
    sigaction(SIGVTALRM, nil, &ignored)
    defer { signal(SIGVTALRM, SIG_DFL) }
    func isIgnored() -> Bool {
      sigaction(SIGVTALRM, nil, &action)
      return withUnsafeBytes(of: action) { action in
        withUnsafeBytes(of: ignored) { action.prefix(8).elementsEqual($0.prefix(8)) }
      }
    }
    try withLoop { loop in
      let (first, second) = (try loop.signal(SIGVTALRM) {}, try loop.signal(SIGVTALRM) {})
      #expect(!isIgnored())
      first.cancel()
      #expect(!isIgnored())
      second.cancel()
      #expect(isIgnored())
      let released = try loop.signal(SIGVTALRM) {}
      #expect(!isIgnored() && !released.isClosed)
    }
    #expect(isIgnored())
  }

  @Test func `watching a signal that can't be caught throws an error`() {
    withLoop { loop in
      _ = #expect(throws: EventLoopError.self) { try loop.signal(SIGKILL) {} }
    }
  }

  @Test func `closing a loop closes its handles and drops its scheduled work`() throws {
    let sockets = SocketPair()
    let loop = EventLoop()
    weak var held: Log<Int>?
    let poll = try PollHandle(on: loop, fileDescriptor: sockets.near)
    let timer = LoopTimer(on: loop) { Issue.record("a closed loop fired a timer") }
    do {
      let log = Log<Int>()
      held = log
      try poll.start([.readable, .writable]) { _, _ in log.note(0) }
      loop.schedule { log.note(1) }
      loop.schedule(after: loop.now) { log.note(2) }
      _ = loop.schedule(after: loop.now, interval: .seconds(1)) { log.note(3) }
      loop.offload {
        4
      } completion: {
        log.note($0)
      }
    }
    timer.start(after: .seconds(1))
    loop.close()
    loop.close()
    #expect(held == nil)
    #expect(poll.isClosed)
    timer.close()
    loop.schedule { Issue.record("a closed loop ran work") }
    timer.start(after: .seconds(1))
    #expect(!timer.isActive)
  }

  // Runs in its own process, where no other test opens descriptors.
  @Test func `closed loops with all kinds of handles leave no descriptor open`() async {
    await #expect(processExitsWith: .success) {
      func useLoop() throws {
        let sockets = SocketPair()
        let loop = EventLoop()
        let poll = try PollHandle(on: loop, fileDescriptor: sockets.near)
        try poll.start([.readable, .writable]) { _, _ in poll.stop() }
        let signal = try loop.signal(SIGUSR1) {}
        loop.offload {
          1
        } completion: { _ in
        }
        loop.schedule(after: loop.now.advanced(by: .milliseconds(1))) { loop.stop() }
        loop.run()
        loop.close()
        signal.close()
        let thread = try EventLoopThread()
        thread.loop.execute {}
        thread.shutdown()
      }
      // The first use opens libuv's process-wide signal pipe and thread pool.
      try useLoop()
      let before = openDescriptors()
      for _ in 0..<200 { try useLoop() }
      let after = openDescriptors()
      precondition(before == after, "\(before) descriptors before, \(after) after")
    }
  }

  @Test func `releasing a loop closes it`() {
    weak var released: EventLoop?
    weak var held: Log<Int>?
    do {
      let loop = EventLoop()
      let log = Log<Int>()
      (released, held) = (loop, log)
      loop.schedule { log.note(1) }
      loop.schedule(after: loop.now) { log.note(2) }
      loop.execute { [weak loop] in loop?.stop() }
    }
    #expect(released == nil && held == nil)
  }
}
