import FeedStream
import TestSupport
import Testing

/// The tests of invalid input run in their own processes, because they trap.
@Suite("A pipeline of parallel subscribes to its input once", .settled, .timeLimit(.minutes(5))) struct RailTests {
  struct Refused: Error {}

  @Test func `a pipeline that subscribes to its input again traps, and the message says what to write`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (loop, group) = (EventLoop(), try EventLoopGroup(count: 1))
      let outcome = Outcome(Fail<Int, Refused>(error: Refused()).parallel(on: group) { $0.retry(1) })
      loop.run()
      withExtendedLifetime(outcome) {}
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("parallel: a pipeline may subscribe to its input only once; write retry and repeat below"))
  }

  @Test func `a pipeline that subscribes to its input after upstream has completed receives the completion`() throws {
    let (loop, group) = (EventLoop(), try EventLoopGroup(count: 3))
    // With one result at a time, each pipeline subscribes to its input only after it has delivered a result.
    let finished = Outcome(Empty<Int, Refused>().parallel(on: group, limit: 3) { $0.prepend(1, 2) })
    loop.run()
    #expect(finished.values.sorted() == [1, 1, 1, 2, 2, 2] && finished.isFinished)
    let failed = Outcome(Fail<Int, Refused>(error: Refused()).parallel(on: group, limit: 3) { $0.prepend(1, 2) })
    loop.run()
    #expect(failed.error != nil)
    group.shutdown()
  }

  @Test func `parallelMap with a width of 0 traps with its own name, even if its closure is asynchronous`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let group = try EventLoopGroup(count: 1)
      _ = [1].publisher.parallelMap(on: group, width: 0) { (number: Int) async in number }
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("parallelMap(width: 0): nothing would ever be computed; use 1 or more"))
  }
}
