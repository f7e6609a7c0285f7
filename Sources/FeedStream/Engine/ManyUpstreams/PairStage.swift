/// What a stage of two upstreams keeps of their values, and when that makes something to deliver.
///
/// A plain value: a rule decides, the stage around it acts. Stages are generic over it, so that its calls are direct.
@usableFromInline protocol PairRule {
  associatedtype First
  associatedtype Second
  associatedtype Output

  static var name: StaticString { get }
  /// Whether what is delivered is counted against what was asked for. Not needed where each value delivered takes one of
  /// either upstream, which have been asked for as many.
  static var keepsLedger: Bool { get }

  mutating func take(first value: First)
  mutating func take(second value: Second)
  /// Whether there is something to deliver.
  var hasNext: Bool { get }
  /// Something to deliver, taken from what is kept. Only while there is; an optional in its place would cost each value.
  mutating func next() -> Output
  /// Whether nothing more can come.
  func isDone(firstEnded: Bool, secondEnded: Bool) -> Bool
  /// Reports what is kept and will not be delivered.
  mutating func dropRest()
}

/// Two upstreams of different types into one subscriber: what `zip` and `combineLatest` share.
///
/// **Demand:** passes to both upstreams. A request made while a value is delivered reaches the upstream that is delivering
/// as its answer.
@usableFromInline
final class PairStage<Rule: PairRule, Failure: Error>: Subscription, CustomStringConvertible,
  CustomPlaygroundDisplayConvertible, CustomReflectable
{
  @usableFromInline let down: ErasedSubscriber<Rule.Output, Failure>
  /// There until the ending; `isActive` says so without copying it.
  @exclusivity(unchecked) @usableFromInline var rule: Rule?
  @exclusivity(unchecked) @usableFromInline var isActive = true
  /// Whether an upstream has ended.
  @exclusivity(unchecked) @usableFromInline var hasEnding = false
  @exclusivity(unchecked) @usableFromInline var first: Inlet<FirstPort<Rule, Failure>>!
  @exclusivity(unchecked) @usableFromInline var second: Inlet<SecondPort<Rule, Failure>>!
  @exclusivity(unchecked) @usableFromInline var demand = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline var isDelivering = false
  /// Whether the subscriber has its subscription; what ends before that waits for it.
  @exclusivity(unchecked) @usableFromInline var hasBegun = false
  @exclusivity(unchecked) @usableFromInline var failure: Failure?
  /// What the subscriber has asked for while a value was delivered.
  @exclusivity(unchecked) @usableFromInline var asked = Subscribers.Demand.none

  @inlinable init(_ down: ErasedSubscriber<Rule.Output, Failure>, _ rule: Rule) {
    self.down = down
    self.rule = rule
    first = Inlet(self)
    second = Inlet(self)
  }

  @inlinable func start<A: Publisher, B: Publisher>(_ a: A, _ b: B)
  where A.Output == Rule.First, B.Output == Rule.Second, A.Failure == Failure, B.Failure == Failure {
    let (first, second) = (self.first!, self.second!)
    a.receive(subscriber: first)
    b.receive(subscriber: second)
  }

  // MARK: Upstream

  /// The subscriber is told once both upstreams have accepted.
  @usableFromInline func began() {
    guard !hasBegun, let first, let second, first.isLive || first.isEnded, second.isLive || second.isEnded else {
      return
    }
    hasBegun = true
    down.receive(subscription: self)
    endIfDone()
  }

  /// Delivers what there is and returns what more the subscriber wants of each upstream.
  ///
  /// A value that arrives while another is delivered waits for the loop that is delivering: the order is kept and the
  /// stack stays flat.
  @inlinable func deliver() -> Subscribers.Demand {
    guard !isDelivering else { return .none }
    isDelivering = true
    while isActive, !Rule.keepsLedger || demand > .none, rule!.hasNext {
      demand.takeOne()
      let more = down.receive(rule!.next())
      if more > .none {
        demand += more
        asked += more
      }
    }
    isDelivering = false
    let asked = self.asked
    if asked > .none { self.asked = .none }
    if hasEnding { endIfDone() }
    return isActive ? asked : .none
  }

  /// Delivers the ending that is due, unless the subscriber is not told yet or is being served.
  @inlinable func endIfDone() {
    guard hasBegun, hasEnding, !isDelivering, let rule, let first, let second else { return }
    if let failure {
      end(.failure(failure))
    } else if rule.isDone(firstEnded: first.isEnded, secondEnded: second.isEnded) {
      end(.finished)
    }
  }

  @inlinable func ended(_ completion: Subscribers.Completion<Failure>) {
    hasEnding = true
    if case .failure(let error) = completion { failure = failure ?? error }
    endIfDone()
  }

  @inlinable func end(_ completion: Subscribers.Completion<Failure>) {
    guard isActive else { return }
    isActive = false
    rule?.dropRest()
    rule = nil
    // The ending first: cancelling may come back here.
    down.receive(completion: completion)
    letGo()
  }

  // MARK: Downstream

  @usableFromInline func request(_ demand: Subscribers.Demand) {
    demand.assertPositive(self)
    guard isActive else { return }
    self.demand += demand
    guard !isDelivering else {
      asked += demand
      return
    }
    var more = demand + deliver()
    while isActive, more > .none {
      // What comes while one is asked waits until both have been.
      isDelivering = true
      first?.request(more)
      second?.request(more)
      isDelivering = false
      more = deliver()
    }
  }

  @usableFromInline func cancel() {
    guard isActive else { return }
    isActive = false
    rule = nil
    letGo()
  }

  @usableFromInline func letGo() {
    let upstreams = (first, second)
    first = nil
    second = nil
    upstreams.0?.cancel()
    upstreams.1?.cancel()
  }

  @usableFromInline var description: String { "\(Rule.name)" }
  @usableFromInline var playgroundDescription: Any { description }
  @usableFromInline var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }
}

@usableFromInline enum FirstPort<Rule: PairRule, Failure: Error>: Port {
  @usableFromInline typealias Input = Rule.First
  @usableFromInline typealias Owner = PairStage<Rule, Failure>

  @usableFromInline static func began(_ inlet: Inlet<Self>) { inlet.owner.began() }
  @inlinable static func receive(_ input: Rule.First, _ inlet: Inlet<Self>) -> Subscribers.Demand {
    guard inlet.owner.isActive else { return .none }
    inlet.owner.rule!.take(first: input)
    let more = inlet.owner.deliver()
    if more > .none { inlet.owner.second?.request(more) }
    return more
  }
  @inlinable static func ended(_ completion: Subscribers.Completion<Failure>, _ inlet: Inlet<Self>) {
    inlet.owner.ended(completion)
  }
}

@usableFromInline enum SecondPort<Rule: PairRule, Failure: Error>: Port {
  @usableFromInline typealias Input = Rule.Second
  @usableFromInline typealias Owner = PairStage<Rule, Failure>

  @usableFromInline static func began(_ inlet: Inlet<Self>) { inlet.owner.began() }
  @inlinable static func receive(_ input: Rule.Second, _ inlet: Inlet<Self>) -> Subscribers.Demand {
    guard inlet.owner.isActive else { return .none }
    inlet.owner.rule!.take(second: input)
    let more = inlet.owner.deliver()
    if more > .none { inlet.owner.first?.request(more) }
    return more
  }
  @inlinable static func ended(_ completion: Subscribers.Completion<Failure>, _ inlet: Inlet<Self>) {
    inlet.owner.ended(completion)
  }
}

extension PairStage: Traceable {
  @usableFromInline var below: Any { down.subscriber }
}
