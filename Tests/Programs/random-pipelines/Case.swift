import Dispatch
import FeedStream
import Foundation

enum Place: String, CaseIterable { case thread, loop, group, queue, delivery, task, values }
enum Cancellation: String, CaseIterable { case never, atOnce, soon, soonElsewhere, inDelivery }

/// One pipeline and its subscription.
// @unchecked: one thread at a time uses it, as the semaphores ensure.
final class Case: @unchecked Sendable {
  let name: String
  private let worker: Int
  private var dice: Dice
  private let place: Place
  private let cancellation: Cancellation
  private let received = Received()
  private var pipeline: Pipeline?
  private let subscription = Guarded(Kept())
  private weak var token: Token?
  private var loop: EventLoop?
  private var groupLoop: EventLoop?
  private var task: Task<Void, Never>?

  struct Kept: @unchecked Sendable {
    var subscription: AnyCancellable?
    var isCancelled = false
  }

  init(_ seed: UInt64, _ index: Int, worker: Int) {
    self.worker = worker
    dice = Dice(seed, index)
    place = dice.pick(Place.allCases)
    cancellation = dice.roll(2) == 0 ? .never : dice.pick(Cancellation.allCases)
    name = "\(seed) 1 \(index): \(place.rawValue)/\(cancellation.rawValue)"
  }

  var description: String { "\(name)/\(pipeline?.names.joined(separator: "/") ?? "")" }

  /// Subscribes, and says what went wrong, if anything.
  func run() -> String? {
    let made = DispatchSemaphore(value: 0)
    switch place {
    case .thread: subscribe()
    case .loop:
      loop = EventLoop()
      subscribe()
    case .group:
      groupLoop = Workers.group.next()
      groupLoop?.execute { [self] in
        subscribe()
        made.signal()
      }
      made.wait()
    case .queue:
      DispatchQueue(label: "made").async { [self] in
        subscribe()
        made.signal()
      }
      made.wait()
    case .delivery:
      let outer = Just(0).receive(on: DispatchQueue(label: "made")).sink { [self] _ in
        subscribe()
        made.signal()
      }
      made.wait()
      withExtendedLifetime(outer) {}
    case .task, .values:
      Task.detached { [self] in
        if place == .task { subscribe() } else { iterate() }
        made.signal()
      }
      made.wait()
    }
    finish()
    var trouble = received.verdict(pipeline!, isCancelled: cancellation != .never) ?? ""
    let description = description
    pipeline = nil
    if !isLetGo() { trouble += " the source was not released;" }
    return trouble.isEmpty ? nil : "\(description):\(trouble)"
  }

  private func make() -> Pipeline {
    let token = Token()
    self.token = token
    let new = Pipeline(&dice, place, token)
    pipeline = new
    LastWords.note(description, by: worker)
    return new
  }

  private func subscribe() {
    let pipeline = make()
    let limit = cancellation == .inDelivery ? dice.pick([1, 2, 10, 100]) : Int.max
    let new = pipeline.stream.sink { [received] _ in
      received.completion()
    } receiveValue: { [received, weak self] value in
      received.value(value)
      if received.count == limit, self?.cancel() == true { received.close(withinDelivery: true) }
    }
    let isCancelled = subscription.withLock { kept in
      if !kept.isCancelled { kept.subscription = new }
      return kept.isCancelled
    }
    if isCancelled { new.cancel() }
  }

  /// Cancels the subscription, outside the lock.
  ///
  /// - Returns: false if `sink` hasn't returned it yet.
  @discardableResult private func cancel() -> Bool {
    let kept = subscription.withLock { kept in
      kept.isCancelled = true
      return Kept(subscription: kept.subscription.take())
    }
    kept.subscription?.cancel()
    received.ended.signal()
    return kept.subscription != nil
  }

  private func iterate() {
    let pipeline = make()
    let limit = cancellation == .inDelivery ? dice.pick([1, 2, 10, 100]) : Int.max
    let values = pipeline.stream.values
    task = Task.detached { [received] in
      for await value in values {
        received.value(value)
        if received.count == limit { break }
      }
      if Task.isCancelled || received.count == limit { received.ended.signal() } else { received.completion() }
    }
  }

  private func finish() {
    let pause = UInt32(dice.roll(400))
    switch cancellation {
    case .never, .inDelivery: break
    case .atOnce: stop()
    case .soon:
      if let loop {
        loop.schedule(after: loop.now.advanced(by: .microseconds(Int(pause)))) { [self] in stop() }
      } else {
        usleep(pause)
        stop()
      }
    case .soonElsewhere where place == .loop: break
    case .soonElsewhere:
      DispatchQueue.global().async { [self] in
        usleep(pause)
        stop()
      }
    }
    finishHere()
  }

  private func stop() {
    if let task {
      task.cancel()
      received.ended.signal()
    } else if let groupLoop {
      groupLoop.execute { [self] in cancel() }
    } else if cancel() {
      received.close(withinDelivery: false)
    }
  }

  private func finishHere() {
    if let loop {
      loop.run()
      let isCancelled = subscription.withLock { $0.isCancelled }
      if !isCancelled, !received.hasEnded { received.trouble("run() returned before the end") }
    }
    if loop == nil || received.hasEnded { received.ended.wait() }
    if let groupLoop { groupLoop.execute { [self] in release() } } else { release() }
    loop?.close()
    loop = nil
  }

  /// Releases the subscription outside the lock.
  private func release() { _ = subscription.withLock { Kept(subscription: $0.subscription.take()) } }

  private func isLetGo() -> Bool {
    for _ in 0..<5_000 {
      if token == nil { return true }
      usleep(2_000)
    }
    return false
  }
}
