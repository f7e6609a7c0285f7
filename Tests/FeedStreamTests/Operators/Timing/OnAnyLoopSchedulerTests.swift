import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct OnAnyLoopSchedulerTests {
  @Test(arguments: TimedForms.all) func `timing operators deliver the same on every LoopScheduler`(_ forms: TimedForms)
  {
    #expect(forms.onAnyLoop() == forms.inStrides())
  }

  @Test func `cancelled streams leave no scheduled work`() {
    withVirtualTime { time in
      let scheduler: any LoopScheduler = time
      let subscription = Just(1).delay(for: .seconds(3_600), scheduler: scheduler).sink { _ in }
      #expect(!time.pending.isEmpty)
      subscription.cancel()
      #expect(time.pending.isEmpty)
    }
  }

  @Test func `a scheduler that can't cancel work runs it`() {
    let scheduler: any LoopScheduler = ImmediateTimeScheduler()
    var values: [Int] = []
    let subscription = [1, 2].publisher.delay(for: .seconds(1), scheduler: scheduler).sink { values.append($0) }
    #expect(values == [1, 2])
    subscription.cancel()
  }

  @Test func `any loop may run on another thread`() throws {
    let (loop, thread) = (EventLoop(), try EventLoopThread())
    let scheduler: any LoopScheduler = thread.loop
    nonisolated(unsafe) var places: [Bool] = []
    var values: [Int] = []
    let subscription = [1, 2].publisher.receive(on: scheduler).map { value in
      places.append(thread.loop.isCurrent)
      return value
    }
    .receive(on: loop).sink { values.append($0) }
    loop.run()
    #expect(values == [1, 2])
    #expect(places == [true, true])
    withExtendedLifetime(subscription) {}
    thread.shutdown()
  }
}
