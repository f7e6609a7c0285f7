/// A subject that keeps sent values; each new subscriber receives them first.
///
///     sent                        1--2--3--4--|
///     subscriber of count: 2            23-4--|
///
/// **Demand, policy:** every subscriber receives the kept values in order, at its own pace. A subscriber misses values
/// that are discarded before it requests them; each such value is reported to ``StreamDiagnostics/onDrop(_:)``. The
/// completion follows the last kept value. **Failure:** follows the last kept value, too. **Cancellation:** a
/// subscriber cancels only its own subscription. **Re-entrancy:** a value sent while another is being delivered is
/// delivered after it, to every subscriber.
/// **Confinement:** not `Sendable`; send on the thread of its subscribers, and elsewhere through `sender(on:)`.
public final class ReplaySubject<Output, Failure: Error>: Subject, _DeliversAtHome {
  public typealias Receipt = Delivery

  @usableFromInline struct Kept {
    @usableFromInline let value: Output
    /// True when the value is too old to be kept.
    @usableFromInline let isExpired: (() -> Bool)?

    @inlinable init(value: Output, isExpired: (() -> Bool)?) {
      self.value = value
      self.isExpired = isExpired
    }
  }

  @usableFromInline let conduits = SubscriberList<Output, Failure>(
    "ReplaySubject", at: SourcePlace("ReplaySubject", 0))
  @usableFromInline let limit: Int
  @usableFromInline let startAgeing: (() -> () -> Bool)?
  @exclusivity(unchecked) @usableFromInline var kept = FIFO<Kept>()
  /// The position of the first kept value, among all values ever sent.
  @exclusivity(unchecked) @usableFromInline var origin = 0
  /// The position of the next value to be sent.
  @inlinable var end: Int { origin + kept.count }
  /// The number of deliveries that are in progress. Nothing is discarded during a delivery, so that a value sent during
  /// a delivery reaches every subscriber that has requested it.
  @exclusivity(unchecked) @usableFromInline var servings = 0
  @exclusivity(unchecked) @usableFromInline var completion: Subscribers.Completion<Failure>?

  /// Keeps the last `count` values.
  ///
  /// - Parameter count: 0 or more; `Int.max` keeps all values.
  @inlinable public convenience init(count: Int) { self.init(limit: count, startAgeing: nil) }

  /// Keeps the values sent less than `maxAge` ago, but at most the last `count` values. If the scheduler's clock is set
  /// back by `maxAge` or more, the earlier values are discarded.
  ///
  /// - Parameters:
  ///   - maxAge: the age at which a value is discarded.
  ///   - count: 0 or more; `Int.max` sets no limit.
  ///   - scheduler: the clock; no work is scheduled on it.
  @inlinable public convenience init<S: Scheduler>(
    maxAge: S.SchedulerTimeType.Stride, count: Int = .max, scheduler: S
  ) {
    self.init(limit: count) {
      let birth = scheduler.now
      return {
        let age = birth.distance(to: scheduler.now)
        return age >= maxAge || age <= -maxAge
      }
    }
  }

  /// Keeps the values sent less than a `Duration` ago.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public convenience init<S: Scheduler>(maxAge: Duration, count: Int = .max, scheduler: S) {
    self.init(maxAge: S.SchedulerTimeType.Stride(maxAge), count: count, scheduler: scheduler)
  }

  /// Keeps the values sent less than a `Duration` ago, by the clock of any loop scheduler.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public convenience init(maxAge: Duration, count: Int = .max, scheduler: some LoopScheduler) {
    self.init(maxAge: maxAge, count: count, scheduler: AnyLoopScheduler(scheduler))
  }

  @inlinable init(limit: Int, startAgeing: (() -> () -> Bool)?) {
    precondition(limit >= 0, "ReplaySubject(count: \(limit)): the number of values cannot be negative; use 0 or more")
    self.limit = limit
    self.startAgeing = startAgeing
  }

  deinit { conduits.abandon() }

  @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    giveUp()
    let start = limit < kept.count ? end - limit : origin
    conduits.add(subscriber, to: self, from: start) { [self] ledger in
      serve(conduits.outlet(ledger))
    }
    // If the subject has completed and keeps no values, the completion needs no request.
    if completion != nil { conduits.visit(serve) }
  }

  /// The number of subscribers: those that have neither cancelled nor received the completion.
  @inlinable public var subscriberCount: Int { conduits.count }

  /// Keeps `value` and delivers it to the subscribers that have requested it.
  ///
  /// - Returns: the number of subscribers that received the value, and the number that have not requested it yet.
  @inlinable @discardableResult public func send(_ value: Output) -> Delivery {
    conduits.check(.send)
    guard completion == nil else {
      let delivery = Delivery(isTerminated: true)
      conduits.report(value, delivery)
      return delivery
    }
    kept.append(Kept(value: value, isExpired: startAgeing?()))
    let position = end
    var delivery = Delivery()
    servings += 1
    conduits.visit { outlet in
      serve(outlet)
      // During a delivery to this subscriber, the running loop delivers the value later, if enough has been requested.
      let isDue = outlet.isBeingServed && outlet.demand >= position - outlet.position
      if outlet.position >= position || isDue { delivery.delivered += 1 } else { delivery.dropped += 1 }
    }
    servings -= 1
    giveUp()
    return delivery
  }

  public func send(completion: Subscribers.Completion<Failure>) {
    conduits.check(.send)
    guard self.completion == nil else { return }
    self.completion = completion
    conduits.visit(serve)
  }

  public func send(subscription: any Subscription) { conduits.upstreams.add(subscription) }

  // MARK: Kept values

  /// Delivers the values that the subscriber of `outlet` has requested, then the completion if it has received
  /// everything.
  @inlinable func serve(_ outlet: SubjectEntry<Output, Failure>) {
    // The running loop serves requests made during its deliveries, so that the stack stays flat.
    guard !outlet.isBeingServed else { return }
    giveUp()
    outlet.isBeingServed = true
    servings += 1
    while outlet.isActive, outlet.demand > .none {
      outlet.position = Swift.max(outlet.position, origin)
      guard outlet.position < end, outlet.spend() else { break }
      let value = kept[outlet.position - origin].value
      outlet.position += 1
      outlet.deliver(value)
    }
    servings -= 1
    outlet.isBeingServed = false
    if let completion, outlet.isActive, kept.isEmpty || outlet.position >= end { conduits.finish(outlet, completion) }
  }

  /// Discards values that are too old or exceed the limit.
  @inlinable func giveUp() {
    guard servings == 0 else { return }
    while kept.count > limit || (!kept.isEmpty && kept[0].isExpired?() ?? false) {
      if StreamDiagnostics.isWatched { reportFirst() }
      origin += 1
      discard(kept.popFirst()?.value)
    }
  }

  @inline(never) @usableFromInline func reportFirst() {
    var isMissed = false
    conduits.visit { isMissed = isMissed || $0.position <= origin }
    if isMissed { StreamDiagnostics.dropped(kept[0].value, "ReplaySubject", .bufferFull) }
  }
}
