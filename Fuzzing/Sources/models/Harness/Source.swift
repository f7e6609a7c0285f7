import FeedStream
import FeedStreamTesting

/// One subscription to a publisher of the case. The chain and the model get the same ones.
final class Source {
  private unowned let run: Run
  let spec: Int
  private let script: SourceSpec
  private(set) var isLive = true
  private(set) var demand = 0
  /// The number of delivered values that the case didn't send.
  private(set) var delivered = 0
  private var ready = 0
  private var isDelivering = false
  private var wait: (any Cancellable)?
  var deliver: ((Int) -> Int)?
  var end: ((Ending) -> Void)?

  init(_ spec: Int, _ run: Run) {
    self.spec = spec
    self.run = run
    script = run.scenario.sources[spec]
  }

  var state: What { .source(spec: spec, isLive: isLive, delivered: delivered, demand: isLive ? demand : 0) }

  /// Begins to deliver, after the subscriber has received the subscription.
  func begin() {
    guard isLive else { return }
    switch script.kind {
    case .hot: if let ending = run.endings[spec] { stop(with: ending) }
    case .sync: ready = script.values.count + 1
    case .endless: ready = .max
    case .timed: scheduleNext()
    }
    drain()
  }

  private func scheduleNext() {
    guard ready < script.values.count || (ready == script.values.count && script.ending != nil) else { return }
    let time = run.time
    let date = time.now.advanced(by: .milliseconds(script.gaps[ready]))
    wait = time.schedule(after: date, interval: .seconds(1_000_000)) { [unowned self] in
      wait?.cancel()
      wait = nil
      ready += 1
      scheduleNext()
      drain()
    }
  }

  func request(_ count: Int) {
    guard isLive else { return }
    demand = sum(demand, count)
    if script.kind != .hot { drain() }
  }

  func cancel() { over() }

  /// Delivers a value that was sent, or drops it.
  func offer(_ value: Int) {
    guard isLive, demand > 0 else { return }
    hand(value)
  }

  func stop(with ending: Ending) {
    guard isLive else { return }
    let end = self.end
    over()
    end?(ending)
  }

  private func hand(_ value: Int) {
    if demand != .max { demand -= 1 }
    let more = deliver!(value)
    demand = sum(demand, more)
  }

  private func drain() {
    guard !isDelivering, script.kind != .hot else { return }
    isDelivering = true
    defer { isDelivering = false }
    while isLive, delivered < ready {
      if script.kind == .endless || delivered < script.values.count {
        guard demand > 0 else { return }
        guard run.hasPatience() else { return over() }
        delivered += 1
        hand(script.values[(delivered - 1) % script.values.count])
      } else {
        guard let ending = script.ending else { return }
        stop(with: ending)
      }
    }
  }

  private func over() {
    isLive = false
    deliver = nil
    end = nil
    wait?.cancel()
    wait = nil
  }
}

/// A publisher of the case, for the chain.
struct Upstream: Publisher {
  typealias Output = Int
  typealias Failure = TestError
  let run: Run
  let spec: Int

  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == TestError {
    let source = run.makeSource(spec)
    source.deliver = { subscriber.receive($0).number }
    source.end = { subscriber.receive(completion: $0.completion) }
    subscriber.receive(subscription: SourceSubscription(source, run.census))
    source.begin()
  }
}

/// Counts the objects that a chain must release.
final class Census {
  var alive = 0
}

private final class SourceSubscription: Subscription {
  private let source: Source
  private let census: Census

  init(_ source: Source, _ census: Census) {
    self.source = source
    self.census = census
    census.alive += 1
  }

  deinit { census.alive -= 1 }

  func request(_ demand: Subscribers.Demand) { source.request(demand.number) }
  func cancel() { source.cancel() }
}
