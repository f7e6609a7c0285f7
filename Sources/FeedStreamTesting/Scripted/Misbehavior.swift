import FeedStream

/// A way for a publisher to break the rules.
public enum Misbehavior: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
  case emitsBeyondDemand = "emits values without demand"
  case emitsAfterEnding = "emits a value after its completion"
  case completesTwice = "completes twice"
  case ignoresCancel = "continues after cancellation"
  case subscribesTwice = "hands out two subscriptions"
  case emitsBeforeSubscription = "emits a value before its subscription"
  case completesBeforeSubscription = "completes before its subscription"

  public var description: String { rawValue }
}

/// A publisher that deliberately breaks one rule, to test that operators survive it.
///
/// Otherwise, it is correct: it delivers values on request, and one completion. With ``Misbehavior/ignoresCancel``,
/// values come a millisecond apart, and values that were not requested are left out.
public final class MisbehavingPublisher<Output, Failure: Error>: Publisher {
  private let misbehavior: Misbehavior
  private let values: [Output]
  private let ending: Subscribers.Completion<Failure>
  private let time: VirtualTimeScheduler
  private let site: CallSite

  /// One element per subscription, in order: true if the subscription was cancelled.
  public var cancellations: [Bool] { subscriptions.map(\.isCancelled) }
  private var subscriptions: [MisbehavingSubscription] = []

  public init(
    _ misbehavior: Misbehavior, values: [Output], ending: Subscribers.Completion<Failure> = .finished,
    on time: VirtualTimeScheduler, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) {
    precondition(!values.isEmpty, "MisbehavingPublisher: it needs values to misbehave with; pass one or more")
    self.misbehavior = misbehavior
    self.values = values
    self.ending = ending
    self.time = time
    site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
  }

  public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    switch misbehavior {
    case .emitsBeforeSubscription: _ = subscriber.receive(values[0])
    case .completesBeforeSubscription: subscriber.receive(completion: ending)
    default: break
    }
    subscribe(subscriber)
    if misbehavior == .subscribesTwice { subscribe(subscriber) }
  }

  private func subscribe<S: Subscriber>(_ subscriber: S) where S.Input == Output, S.Failure == Failure {
    let subscription = MisbehavingSubscription()
    subscriptions.append(subscription)
    var upcoming = values[...]
    let end = { [misbehavior, ending, values] in
      subscription.onRequest = nil
      subscriber.receive(completion: ending)
      if misbehavior == .completesTwice { subscriber.receive(completion: ending) }
      if misbehavior == .emitsAfterEnding { _ = subscriber.receive(values[0]) }
    }
    switch misbehavior {
    case .emitsBeyondDemand:
      subscription.onRequest = { _ in
        guard let value = upcoming.popFirst() else { return }
        _ = subscriber.receive(value)
        while !subscription.isCancelled, let value = upcoming.popFirst() { _ = subscriber.receive(value) }
        if !subscription.isCancelled { end() }
      }
    case .ignoresCancel:
      var demand = Subscribers.Demand.none
      subscription.onRequest = { demand += $0 }
      for (index, value) in values.enumerated() {
        _ = time.agenda.add(at: time.now.advanced(by: .milliseconds(index + 1)), .line(site)) {
          guard demand > .none else { return }
          demand -= 1
          demand += subscriber.receive(value)
        }
      }
      _ = time.agenda.add(at: time.now.advanced(by: .milliseconds(values.count + 1)), .line(site), end)
    default:
      var demand = Subscribers.Demand.none
      var isRunning = false
      subscription.onRequest = {
        demand += $0
        guard !isRunning else { return }
        isRunning = true
        while !subscription.isCancelled, demand > .none, let value = upcoming.popFirst() {
          demand -= 1
          demand += subscriber.receive(value)
        }
        isRunning = false
        if !subscription.isCancelled, upcoming.isEmpty { end() }
      }
    }
    subscriber.receive(subscription: subscription)
  }
}

private final class MisbehavingSubscription: Subscription {
  var onRequest: ((Subscribers.Demand) -> Void)?
  private(set) var isCancelled = false

  func request(_ demand: Subscribers.Demand) {
    // Retain the closure while it runs, because the completion releases it.
    let serve = onRequest
    serve?(demand)
  }

  func cancel() {
    isCancelled = true
    onRequest = nil
  }
}
