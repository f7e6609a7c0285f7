import Dispatch
import FeedStream
import Foundation

// Streams that cross to a queue outlive their loop: it is closed or released before another thread cancels them.
// Expects: 300 of 300 publishers are cancelled

/// A publisher with a timer of its own, like a library's or a user's.
struct Ticks: Publisher {
  typealias Output = Int
  typealias Failure = Never

  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
    subscriber.receive(subscription: Ticking(subscriber))
  }

  private final class Ticking<S: Subscriber>: Subscription, @unchecked Sendable
  where S.Input == Int, S.Failure == Never {
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "ticks"))
    let subscriber: S

    init(_ subscriber: S) {
      self.subscriber = subscriber
      timer.schedule(deadline: .now(), repeating: .milliseconds(1))
      timer.setEventHandler { [self] in _ = self.subscriber.receive(1) }
    }

    func request(_ demand: Subscribers.Demand) { timer.activate() }
    func cancel() {
      timer.cancel()
      lock.withLock { cancelled += 1 }
    }
  }
}

let lock = NSLock()
nonisolated(unsafe) var cancelled = 0
let queue = DispatchQueue(label: "values")
let elsewhere = DispatchQueue(label: "elsewhere")

for number in 0..<100 {
  // The loop of a thread is closed first; then the main thread cancels.
  let thread = try EventLoopThread()
  let ready = DispatchSemaphore(value: 0)
  nonisolated(unsafe) var subscriptions: [AnyCancellable] = []
  thread.loop.execute {
    let shared = Ticks().receive(on: thread.loop).share()
    subscriptions = [shared.receive(on: queue).sink { _ in }, shared.receive(on: queue).sink { _ in }]
    ready.signal()
  }
  ready.wait()
  usleep(500)
  thread.shutdown()
  subscriptions = []

  // The main thread's loop is closed, or only released; then a queue cancels.
  do {
    let loop = EventLoop()
    subscriptions = [Ticks().receive(on: queue).sink { _ in }]
    loop.schedule(after: loop.now.advanced(by: .milliseconds(1))) { loop.stop() }
    loop.run(.untilStopped)
    if number % 2 == 0 { loop.close() }
  }
  elsewhere.sync { subscriptions = [] }

  // Without a queue: the publisher delivers on its own thread, and its stream lives on a thread's loop.
  let other = try EventLoopThread()
  other.loop.execute {
    subscriptions = [Ticks().sink { _ in }]
    ready.signal()
  }
  ready.wait()
  usleep(500)
  other.shutdown()
  elsewhere.sync { subscriptions = [] }
}
usleep(100_000)
print("\(lock.withLock { cancelled }) of 300 publishers are cancelled")
