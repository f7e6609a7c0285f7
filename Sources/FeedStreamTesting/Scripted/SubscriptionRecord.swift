import FeedStream

/// The record of one subscription to a ``ScriptedPublisher``, with times.
public final class SubscriptionRecord: CustomStringConvertible {
  /// The time of the subscription.
  public let subscribedAt: StreamInstant
  /// All requests.
  public internal(set) var requests: [Timed<Subscribers.Demand>] = []
  /// The demand that the subscriber returned after values.
  public internal(set) var answered = Subscribers.Demand.none
  /// The time of the first cancellation, if any.
  public internal(set) var cancelledAt: StreamInstant?
  /// The time at which the completion was delivered, if any.
  public internal(set) var endedAt: StreamInstant?
  /// The number of values that were delivered.
  public internal(set) var delivered = 0
  /// The number of values that the subscriber missed because it had not requested them.
  public internal(set) var dropped = 0
  /// The indices of the script's events that were delivered.
  var deliveredPositions: [Int] = []
  weak var subscription: ScriptedSubscription?

  init(subscribedAt: StreamInstant) { self.subscribedAt = subscribedAt }

  /// True when the subscriber has neither cancelled nor received the completion.
  public var isLive: Bool { cancelledAt == nil && endedAt == nil }

  /// The subscriber's total demand, requested and returned.
  public var demand: Subscribers.Demand { requests.reduce(answered) { $0 + $1.content } }

  public var description: String {
    var parts = ["subscribed at \(subscribedAt.nanoseconds.asTime)"]
    parts += requests.map { "requested \($0.content.inWords) at \($0.time.nanoseconds.asTime)" }
    if answered > .none { parts.append("returned demand for \(answered.inWords) more") }
    if delivered > 0 { parts.append("received \(delivered)") }
    if dropped > 0 { parts.append("missed \(dropped)") }
    if let cancelledAt { parts.append("cancelled at \(cancelledAt.nanoseconds.asTime)") }
    if let endedAt { parts.append("ended at \(endedAt.nanoseconds.asTime)") }
    return parts.joined(separator: ", ")
  }
}

/// The subscription that a ``ScriptedPublisher`` delivers.
final class ScriptedSubscription: Subscription, CustomStringConvertible {
  let record: SubscriptionRecord
  private let time: VirtualTimeScheduler
  private var demand = Subscribers.Demand.none
  /// The events that wait for demand, including the completion after them.
  private var waiting = FIFO<Step>()
  private var isDelivering = false
  private var isOver = false
  private var timers: [TimerQueue.Work] = []
  /// The events of the timers, in order.
  private var later = FIFO<Step>()
  var onOver: (() -> Void)?

  /// An event, as a closure that delivers it. The closure of a value returns the subscriber's demand.
  enum Step {
    case value(position: Int, () -> Subscribers.Demand)
    case ending(() -> Void)
  }

  init(_ record: SubscriptionRecord, _ time: VirtualTimeScheduler) {
    self.record = record
    self.time = time
    record.subscription = self
  }

  /// True, because the subscription delivers only in virtual time.
  var _isConfined: Bool { true }

  func after(_ interval: StreamInstant.Stride, _ site: CallSite, _ step: Step) {
    // The subscriber may have cancelled when it received the subscription.
    guard !isOver else { return }
    later.append(step)
    // Each timer takes the next event, so that a seed doesn't shuffle the events of one instant.
    timers.append(
      time.agenda.add(at: time.now.advanced(by: interval), .line(site)) { [weak self] in
        if let step = self?.later.popFirst() { self?.offer(step) }
      })
  }

  /// Loads all events, which wait until they are requested.
  func load(_ steps: [Step]) { for step in steps { waiting.append(step) } }

  /// Delivers `step` as soon as it has been requested.
  func offer(_ step: Step) {
    guard !isOver else { return }
    waiting.append(step)
    drain()
  }

  /// Delivers `step` now; drops it if it has not been requested.
  func offerOrDrop(_ step: Step) {
    guard !isOver else { return }
    if case .value = step, demand == .none {
      record.dropped += 1
    } else {
      deliver(step)
    }
  }

  /// Delivers the waiting events that have been requested. The completion follows the last value without a request.
  func drain() {
    guard !isDelivering else { return }
    isDelivering = true
    defer { isDelivering = false }
    while !isOver, let step = waiting.popFirst() {
      if case .value = step, demand == .none { return waiting.prepend(step) }
      deliver(step)
    }
  }

  private func deliver(_ step: Step) {
    switch step {
    case .value(let position, let deliver):
      if demand != .unlimited { demand -= 1 }
      record.delivered += 1
      record.deliveredPositions.append(position)
      let answer = deliver()
      record.answered += answer
      demand += answer
    case .ending(let deliver):
      record.endedAt = time.now
      finish()
      deliver()
    }
  }

  private func finish() {
    guard !isOver else { return }
    isOver = true
    // The events retain the subscriber.
    waiting.removeAll()
    later.removeAll()
    for timer in timers { time.agenda.cancel(timer) }
    timers = []
    onOver?()
    onOver = nil
  }

  func request(_ demand: Subscribers.Demand) {
    record.requests.append(Timed(demand, at: time.now))
    guard !isOver else { return }
    self.demand += demand
    drain()
  }

  func cancel() {
    if record.cancelledAt == nil { record.cancelledAt = time.now }
    finish()
  }

  var description: String { "ScriptedPublisher" }
}
