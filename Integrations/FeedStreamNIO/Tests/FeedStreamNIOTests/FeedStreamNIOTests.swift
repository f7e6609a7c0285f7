import FeedStream
import FeedStreamNIO
import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

@Suite struct FeedStreamNIOTests {
  struct Refused: Error {}

  @Test func `timing operators run on a NIO event loop`() {
    let loop = EmbeddedEventLoop()
    let scheduler: any LoopScheduler = loop.scheduler
    let texts = PassthroughSubject<String, Never>()
    var (searched, ticks): ([String], [Int]) = ([], [])
    let search = texts.debounce(for: .milliseconds(200), scheduler: scheduler).sink { searched.append($0) }
    let interval = Interval(every: .milliseconds(100), scheduler: scheduler).sink { ticks.append($0) }
    texts.send("s")
    loop.advanceTime(by: .milliseconds(150))
    texts.send("se")
    loop.advanceTime(by: .milliseconds(199))
    #expect(searched == [])
    loop.advanceTime(by: .milliseconds(1))
    #expect(searched == ["se"])
    #expect(ticks == [0, 1, 2])
    interval.cancel()
    loop.advanceTime(by: .seconds(1))
    #expect(ticks == [0, 1, 2])
    search.cancel()
  }

  @Test func `work offloaded from a NIO event loop returns to it`() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let sum = try await loop.flatSubmit {
      let promise = loop.makePromise(of: Int.self)
      loop.scheduler.offload({ (1...10).reduce(0, +) }) { sum in
        loop.preconditionInEventLoop()
        promise.succeed(sum)
      }
      return promise.futureResult
    }.get()
    #expect(sum == 55)
  }

  @Test func `a NIO future is a publisher that delivers on the stream's loop`() {
    let group = MultiThreadedEventLoopGroup.singleton
    let answer = group.next().scheduleTask(in: .milliseconds(1)) { 7 }.futureResult
    let refusal = group.next().makeFailedFuture(Refused()) as EventLoopFuture<Int>
    let loop = FeedStream.EventLoop()
    defer { loop.close() }
    var (values, failures): ([Int], Int) = ([], 0)
    let subscriptions = [answer, refusal].map { future in
      future.publisher.sink {
        if case .failure(is Refused) = $0 { failures += 1 }
      } receiveValue: {
        values.append(loop.isCurrent ? $0 : -1)
      }
    }
    loop.run()
    #expect(values == [7])
    #expect(failures == 1)
    for subscription in subscriptions { subscription.cancel() }
  }

  @Test func `a publisher's first value becomes a NIO future`() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    #expect(try await [1, 2].publisher.firstValue(on: loop).get() == 1)
    #expect(try await Empty<Int, Never>().firstValue(on: loop).get() == nil)
    await #expect(throws: Refused.self) { try await Fail<Int, Refused>(error: Refused()).firstValue(on: loop).get() }
    let later = try await loop.flatSubmit {
      Just(3).delay(for: .milliseconds(1), scheduler: loop.scheduler).firstValue(on: loop)
    }.get()
    #expect(later == 3)
  }
}
