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
