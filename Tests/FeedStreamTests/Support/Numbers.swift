import FeedStream
import Foundation

/// Delivers numbers on its own thread, as a publisher around a network library may.
struct Numbers: Publisher {
  typealias Output = Int
  typealias Failure = Never

  let count: Int

  init(_ count: Int) { self.count = count }

  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
    let run = Run(AnySubscriber(subscriber), count)
    subscriber.receive(subscription: run)
  }

  /// Delivers the requested values on its thread.
  private final class Run: Subscription, @unchecked Sendable {
    private struct State {
      var demand = Subscribers.Demand.none
      var isCancelled = false
      var hasThread = false
    }

    private let subscriber: AnySubscriber<Int, Never>
    private let count: Int
    private let state = NSLock()
    private var current = State()
    private let asked = DispatchSemaphore(value: 0)

    init(_ subscriber: AnySubscriber<Int, Never>, _ count: Int) {
      self.subscriber = subscriber
      self.count = count
    }

    func request(_ demand: Subscribers.Demand) {
      let isFirst = state.withLock {
        current.demand += demand
        defer { current.hasThread = true }
        return !current.hasThread
      }
      if isFirst { Thread.detachNewThread { self.deliver() } }
      asked.signal()
    }

    func cancel() {
      state.withLock { current.isCancelled = true }
      asked.signal()
    }

    private func deliver() {
      for number in 0..<count {
        while true {
          let (mayDeliver, isOver) = state.withLock {
            guard current.demand > .none, !current.isCancelled else { return (false, current.isCancelled) }
            current.demand -= .max(1)
            return (true, false)
          }
          if isOver { return }
          if mayDeliver { break }
          asked.wait()
        }
        let more = subscriber.receive(number)
        state.withLock { current.demand += more }
      }
      if !state.withLock({ current.isCancelled }) { subscriber.receive(completion: .finished) }
    }
  }
}
