import FeedStream

/// A publisher that follows a script and keeps a record of its subscribers.
///
/// Make one with the `cold` and `hot` methods of a ``VirtualTimeScheduler``:
///
///     let typing = time.hot("s-e-a 500ms |")                           // of strings
///     let numbers = time.cold("1-2-3|", of: Int.self)                  // each digit is a number
///     let prices = time.cold("x-y|", values: ["x": 9.5, "y": 20])      // with values that have names
///     let ticks: ScriptedPublisher<Int, Never> = time.hot("-1-2-3")    // of the declared type
public final class ScriptedPublisher<Output, Failure: Error>: Publisher {
  public typealias Event = StreamEvent<Output, Failure>

  /// Determines when the script's events occur, and how values without demand are treated.
  public enum Kind: Sendable {
    /// The script is played to each subscriber separately, starting when it subscribes. A value waits until it is
    /// requested.
    case cold
    /// The script is played once, starting when the publisher is made. A subscriber misses values that it has not
    /// requested. If it subscribes after the completion, it receives the completion immediately.
    case hot
    /// The script is played to each subscriber separately, in the calls that request values. The script's times have no
    /// effect.
    case synchronous
  }

  public let kind: Kind
  let time: VirtualTimeScheduler
  /// The time at which the publisher was made.
  let start: StreamInstant
  private let site: CallSite
  private let script: [(time: StreamInstant.Stride, event: Event)]
  private var hotOutlets: [(subscription: ScriptedSubscription, step: (Event, Int) -> ScriptedSubscription.Step)] = []
  /// The position of a hot publisher's next event.
  private var next = 0
  private var hotEnding: Event?

  /// The records of all subscriptions, in the order in which the subscriptions were made.
  public private(set) var subscriptions: [SubscriptionRecord] = []

  /// - Parameter script: events with their times, in order.
  public init(
    _ kind: Kind, _ script: [(time: StreamInstant.Stride, event: Event)], on time: VirtualTimeScheduler,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    self.kind = kind
    self.time = time
    start = time.now
    site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    for (earlier, later) in Swift.zip(script, script.dropFirst()) where later.time < earlier.time {
      site.fail(
        "Time goes back in this script: \(later.event) at \(later.time.nanoseconds.asTime) comes after "
          + "\(earlier.event) at \(earlier.time.nanoseconds.asTime); put the events in order.")
    }
    if let end = script.firstIndex(where: { $0.event.isCompletion }), end + 1 < script.count {
      site.fail(
        "This script continues after its completion: \(script[end + 1].event) comes after \(script[end].event); "
          + "remove what follows, or use a MisbehavingPublisher.")
    }
    if kind != .hot, let first = script.first, first.time.nanoseconds < 0 {
      site.fail(
        "This script begins in the past: \(first.event) at \(first.time.nanoseconds.asTime), and it is played to each "
          + "subscriber from the time of its subscription; begin at 0 (in marbles: without ^), or use a hot publisher.")
    }
    self.script = script
    guard kind == .hot else { return }
    next = script.firstIndex { $0.time.nanoseconds >= 0 } ?? script.count
    for (offset, _) in script[next...] {
      // A strong reference: a hot publisher continues even if no one retains it, as long as events are left. Each piece
      // of work takes the next event, so that a seed doesn't shuffle the events of one instant.
      _ = time.agenda.add(at: time.now.advanced(by: offset), .line(site)) { self.happen() }
    }
    hotEnding = script.last { $0.time.nanoseconds < 0 && $0.event.isCompletion }?.event
  }

  public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    let record = SubscriptionRecord(subscribedAt: time.now)
    subscriptions.append(record)
    time.audit.add(site) {
      record.isLive
        ? "A subscription to the publisher made here is still live: \(record). Cancel it, or complete the stream." : nil
    }
    let subscription = ScriptedSubscription(record, time)
    func step(_ event: Event, _ position: Int) -> ScriptedSubscription.Step {
      switch event {
      case .value(let value): .value(position: position) { subscriber.receive(value) }
      case .completion(let completion): .ending { subscriber.receive(completion: completion) }
      }
    }
    if kind == .synchronous { subscription.load(script.enumerated().map { step($1.event, $0) }) }
    subscriber.receive(subscription: subscription)
    switch kind {
    case .cold:
      for (position, (offset, event)) in script.enumerated() {
        if offset.nanoseconds > 0 {
          subscription.after(offset, site, step(event, position))
        } else {
          subscription.offer(step(event, position))
        }
      }
    case .synchronous:
      // A script without values completes without a request.
      subscription.drain()
    case .hot:
      if let hotEnding {
        subscription.offer(step(hotEnding, script.count - 1))
      } else if record.isLive {
        subscription.onOver = { [weak self, unowned subscription] in
          self?.hotOutlets.removeAll { $0.subscription === subscription }
        }
        hotOutlets.append((subscription, step))
      }
    }
  }

  private func happen() {
    let (position, event) = (next, script[next].event)
    next += 1
    if event.isCompletion { hotEnding = event }
    for outlet in hotOutlets { outlet.subscription.offerOrDrop(outlet.step(event, position)) }
  }
}
