import FeedStream
import Foundation
import TestSupport
import Testing

@Suite(.settled, .timeLimit(.minutes(5))) struct SystemStreamTests {
  private let loop = EventLoop()

  @Test func `a signal is delivered once per request`() {
    // Other tests of this process send other signals. A signal that is sent again before it has arrived arrives only
    // once.
    let puller = Puller(Signals.received(SIGWINCH, SIGCONT, on: loop))
    let heard = Outcome(Signals.received(SIGWINCH, SIGCONT, on: loop))
    puller.request(1)
    for (count, number) in [SIGWINCH, SIGWINCH, SIGCONT, SIGCONT, SIGCONT].enumerated() {
      kill(getpid(), number)
      loop.run { heard.values.count == count + 1 }
    }
    #expect(puller.values == [SIGWINCH])
    puller.request(10)
    #expect(puller.values == [SIGWINCH, SIGWINCH, SIGCONT])
    for subscription in [puller.cancel, heard.cancel] { subscription() }
    loop.run()
  }

  @Test func `receiving a signal that can't be caught fails with an error that names it`() {
    for number in [SIGKILL, 1_000] {
      let outcome = Outcome(Signals.received(number, on: loop))
      loop.run()
      #expect(outcome.error == SystemError("watch", "signal \(number)", code: EINVAL))
    }
  }

  @Test func `RandomBytes delivers one chunk of the given size per request`() {
    let puller = Puller(RandomBytes.chunks(of: 32, on: loop))
    loop.run()
    #expect(puller.values.isEmpty)
    puller.request(3)
    loop.run()
    #expect(puller.values.map(\.count) == [32, 32, 32])
    #expect(Set(puller.values).count == 3)
    puller.cancel()
  }

  @Test func `opening a missing terminal throws an error that says so`() throws {
    // If the tests have a terminal, it is opened.
    do throws(SystemError) {
      _ = try Terminal(on: loop)
    } catch {
      #expect(error.subject == "the terminal")
    }
    loop.run()
  }
}

/// A suite without a loop: while this test waits for a process, others run on its thread, and would use the loop.
@Suite(.settled, .timeLimit(.minutes(5))) struct TerminalSignalTests {
  @Test func `a signal restores the terminal even if a stream received it before the keys were read`() async throws {
    var (keyboard, screen): (Int32, Int32) = (-1, -1)
    var name = [CChar](repeating: 0, count: 256)
    try #require(openpty(&keyboard, &screen, &name, nil, nil) == 0)
    for descriptor in [keyboard, screen] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    defer { for descriptor in [keyboard, screen] { close(descriptor) } }
    let path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    await #expect(processExitsWith: .signal(SIGTERM)) { [path = path as String] in
      try #require(dup2(open(path, O_RDWR | O_NOCTTY), STDIN_FILENO) == STDIN_FILENO)
      let loop = EventLoop()
      let signal = Outcome(Signals.received(SIGTERM, on: loop).prefix(1))
      let keys = Outcome(try Terminal(on: loop).keys)
      kill(getpid(), SIGTERM)
      loop.run { signal.completion != nil }
      var mode = termios()
      try #require(signal.isFinished)
      try #require(tcgetattr(STDIN_FILENO, &mode) == 0)
      try #require(mode.c_lflag & tcflag_t(ICANON) == 0, "the terminal is in raw mode")
      kill(getpid(), SIGTERM)
      // Another thread may receive the signal.
      withExtendedLifetime(keys) { while true { pause() } }
    }
    var mode = termios()
    try #require(tcgetattr(screen, &mode) == 0)
    #expect(mode.c_lflag & tcflag_t(ICANON) != 0)
  }
}
