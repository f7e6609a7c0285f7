/// Combines two upstreams of different types into one subscriber: the stage of `zip` and `combineLatest`.
///
/// Events are handled in the order in which they arrive; those that arrive during a delivery come after it.
///
/// **Demand:** passes to both upstreams. A request made while a value is being delivered is returned to the upstream
/// that delivers.
@usableFromInline final class PairStage<Rule: PairRule, Failure: Error>: Junction<Rule.Output, Failure> {
  /// The rule and its values; `nil` once the stream is over.
  @exclusivity(unchecked) @usableFromInline var rule: Rule?
  /// True when an upstream has ended.
  @exclusivity(unchecked) @usableFromInline var hasEnding = false
  @exclusivity(unchecked) @usableFromInline var first: Inlet<FirstPort<Rule, Failure>>?
  @exclusivity(unchecked) @usableFromInline var second: Inlet<SecondPort<Rule, Failure>>?
  /// True while a value is being delivered, and until the subscriber has its subscription: events wait in the meantime.
  @exclusivity(unchecked) @usableFromInline var isDelivering = true
  /// The demand that the subscriber requested while a value was being delivered.
  @exclusivity(unchecked) @usableFromInline var asked = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline var failure: Failure?
  /// Combinations that were made during a delivery, for which there is demand. Pairs wait in the rule's own queues.
  @exclusivity(unchecked) @usableFromInline var waiting = FIFO<Rule.Output>()

  @inlinable init(_ down: ErasedSubscriber<Rule.Output, Failure>, _ rule: Rule) {
    self.rule = rule
    super.init(Rule.joins.name, down)
  }

  /// Subscribes to both upstreams, and then delivers the subscription.
  @inlinable func start<A: Publisher<Rule.First, Failure>, B: Publisher<Rule.Second, Failure>>(_ a: A, _ b: B) {
    let (first, second) = (Inlet<FirstPort<Rule, Failure>>(self), Inlet<SecondPort<Rule, Failure>>(self))
    self.first = first
    self.second = second
    guard entry.enter() else { return }
    a.receive(subscriber: first)
    b.receive(subscriber: second)
    isDelivering = false
    down.receive(subscription: self)
    endIfDone()
    entry.leave()
  }

  // MARK: Upstream

  /// Delivers the values that are ready and returns the subscriber's further demand, for each upstream.
  ///
  /// A value that arrives while another is being delivered waits for the running loop: the order is kept and the stack
  /// stays flat. Pairs are delivered without a check of the demand: each takes one value from each upstream, and the
  /// same demand was requested from both.
  @inlinable func deliver() -> Subscribers.Demand {
    guard !isDelivering else {
      if Rule.joins == .latest { hold() }
      return .none
    }
    isDelivering = true
    while isActive, Rule.joins == .pairing || demand > .none, rule!.hasNext {
      pass(rule!.next())
      if Rule.joins == .latest, waiting.count > 0 { deliverWaiting() }
    }
    isDelivering = false
    let asked = self.asked
    if asked > .none { self.asked = .none }
    if hasEnding { endIfDone() }
    return isActive ? asked : .none
  }

  @inlinable @inline(__always) func pass(_ value: Rule.Output) {
    demand.takeOne()
    let more = down.receive(value)
    if more > .none {
      demand += more
      asked += more
    }
  }

  /// Keeps a combination that was made during a delivery, if there is demand for it. Otherwise, the next combination
  /// may replace it.
  @inlinable @inline(never) func hold() {
    if demand > waiting.count, rule!.hasNext { waiting.append(rule!.next()) }
  }

  @inlinable @inline(never) func deliverWaiting() {
    while isActive, let value = waiting.popFirst() { pass(value) }
  }

  /// Delivers the completion if it is due, unless a delivery is in progress or the subscriber has no subscription yet.
  @inlinable func endIfDone() {
    guard hasEnding, !isDelivering, let rule, let first, let second else { return }
    if let failure {
      stop(.failure(failure))
    } else if rule.isDone(firstEnded: first.isEnded, secondEnded: second.isEnded) {
      stop(.finished)
    }
  }

  @inlinable func ended(_ completion: Subscribers.Completion<Failure>, _ inlet: AnyInlet) {
    hasEnding = true
    if case .failure(let error) = completion { failed(error, inlet) }
    endIfDone()
  }

  /// Records the failure of one upstream, unless the other's completion already ends the stream. No value follows the
  /// failure, even while the failure waits.
  @inlinable @inline(never) func failed(_ error: Failure, _ inlet: AnyInlet) {
    guard let rule, let first, let second else { return }
    let isOver = rule.isExhausted(
      firstEnded: first !== inlet && first.isEnded, secondEnded: second !== inlet && second.isEnded)
    if !isOver, failure == nil { failure = error }
    guard isDelivering else { return }
    first.cancel()
    second.cancel()
  }

  @inlinable func stop(_ completion: Subscribers.Completion<Failure>) {
    guard rule != nil else { return end(completion) }
    // Reports and released values may call back into this stage, which is still active.
    var rest = exchange(&rule, with: Rule())
    rest?.dropRest()
    end(completion)
    discard(rest)
  }

  // MARK: Downstream

  override func requested(_ demand: Subscribers.Demand) {
    guard isActive else { return }
    self.demand += demand
    guard !isDelivering else {
      asked += demand
      if Rule.joins == .latest { hold() }
      return
    }
    let more = demand + deliver()
    first?.request(more)
    second?.request(more)
  }

  override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    facts.upstreams = (first?.visible ?? []) + (second?.visible ?? [])
    facts.partners = rule?.held ?? []
    facts.held = facts.partners.reduce(waiting.count, +)
  }

  override func cancelUpstreams() {
    let old = rule.take()
    if waiting.count > 0 { waiting.removeAll() }
    let upstreams = (first.take(), second.take())
    upstreams.0?.cancel()
    upstreams.1?.cancel()
    discard(old)
  }
}

@usableFromInline enum FirstPort<Rule: PairRule, Failure: Error>: Port {
  @usableFromInline typealias Input = Rule.First
  @usableFromInline typealias Owner = PairStage<Rule, Failure>

  @usableFromInline static func began(_ inlet: Inlet<Self>) {
    if inlet.owner.demand > .none { inlet.request(inlet.owner.demand) }
  }
  @inlinable static func receive(_ input: Rule.First, _ inlet: Inlet<Self>) -> Subscribers.Demand {
    guard inlet.owner.isActive else { return .none }
    let old = inlet.owner.rule!.take(first: input)
    let more = inlet.owner.deliver()
    if more > .none { inlet.owner.second?.request(more) }
    discard(old)
    return more
  }
  @inlinable static func ended(_ completion: Subscribers.Completion<Failure>, _ inlet: Inlet<Self>) {
    inlet.owner.ended(completion, inlet)
  }
}

@usableFromInline enum SecondPort<Rule: PairRule, Failure: Error>: Port {
  @usableFromInline typealias Input = Rule.Second
  @usableFromInline typealias Owner = PairStage<Rule, Failure>

  @usableFromInline static func began(_ inlet: Inlet<Self>) {
    if inlet.owner.demand > .none { inlet.request(inlet.owner.demand) }
  }
  @inlinable static func receive(_ input: Rule.Second, _ inlet: Inlet<Self>) -> Subscribers.Demand {
    guard inlet.owner.isActive else { return .none }
    let old = inlet.owner.rule!.take(second: input)
    let more = inlet.owner.deliver()
    if more > .none { inlet.owner.first?.request(more) }
    discard(old)
    return more
  }
  @inlinable static func ended(_ completion: Subscribers.Completion<Failure>, _ inlet: Inlet<Self>) {
    inlet.owner.ended(completion, inlet)
  }
}
