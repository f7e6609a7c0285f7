/// The stage of operators with one result: `count`, `collect`, `reduce`, `first`, `last`, `min`, `max`, `contains` and
/// `allSatisfy`. It requests everything from upstream, delivers the result once the subscriber has requested it, and
/// finishes.
///
/// The rule updates the result with each value. When it returns true, the result is settled, and upstream is cancelled.
/// With a `nil` result, the stage finishes without a value.
@usableFromInline
final class ReduceStage<Input, Output, Mode: Publishers.FailureMode>: LastValueStage<Output, Mode.Failure>, Subscriber {
  @usableFromInline typealias Failure = Mode.UpstreamFailure
  @usableFromInline typealias Rule = (inout Output?, Input) throws(Mode.RuleError) -> Bool

  @usableFromInline let name: StaticString
  @usableFromInline let settling: Settling
  /// True when the result holds the values themselves.
  @usableFromInline let keepsValues: Bool
  @usableFromInline let rule: Rule
  /// True while the rule handles a value and has the result, which is ``LastValueStage/last`` otherwise.
  @exclusivity(unchecked) @usableFromInline var isHandling = false
  @exclusivity(unchecked) @usableFromInline private(set) var isAsked = false
  /// True when upstream has finished while the rule is handling a value. The result includes that value.
  @exclusivity(unchecked) @usableFromInline var hasEndedWithin = false

  /// - Parameters:
  ///   - settling: tells whether a value can settle the result, for the map.
  ///   - keepsValues: true when the result holds the values themselves: a failure then drops and reports them.
  ///   - rule: updates the result with a value; returns true when the result is settled.
  @inlinable init(
    _ name: StaticString, _ down: ErasedSubscriber<Output, Mode.Failure>, _ initial: Output?,
    _ settling: Settling = .never, keepsValues: Bool = false, _ rule: @escaping Rule
  ) {
    self.name = name
    self.settling = settling
    self.keepsValues = keepsValues
    self.rule = rule
    super.init(down)
    last = initial
  }

  override func began() {
    super.began()
    up?.request(.unlimited)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents else { return .none }
    if isHandling { haltReentry(of: placed(self)) }
    isHandling = true
    var current = exchange(&last, with: nil)
    do throws(Mode.RuleError) {
      let isSettled = try rule(&current, input)
      guard isLive else { return .none }
      isHandling = false
      last = current
      if isSettled || hasEndedWithin { conclude(cancelling: !hasEndedWithin) }
    } catch {
      stop(.failure(Mode.failure(ofRule: error)))
    }
    return .none
  }

  @inlinable func receive(completion: Subscribers.Completion<Failure>) {
    switch completion {
    case .finished where isHandling: hasEndedWithin = true
    // A stray completion must not take the result that waits for demand.
    case .finished: if isLive { conclude(cancelling: false) }
    case .failure(let error):
      if keepsValues, isLive, let values = last as? [Input] {
        for value in values { StreamDiagnostics.dropped(value, name, .terminated) }
      }
      finish(.failure(Mode.failure(ofUpstream: error)))
    }
  }

  @inlinable @inline(never) func conclude(cancelling: Bool) {
    finish(with: exchange(&last, with: nil), isAsked: isAsked, cancelling: cancelling)
  }

  override func forget() { forgetLast() }

  /// Makes no request, because everything has already been requested from upstream.
  override func asked(for demand: Subscribers.Demand) { isAsked = true }

  override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    guard isLive, up != nil else { return }
    switch settling {
    case .never: facts.waitsForCompletion = "delivers its result when upstream completes"
    case .possible:
      facts.waitsForCompletion = "no value has decided its result yet; it delivers the result when upstream completes"
    case .expected: break
    }
  }

  override var description: String { (Mode.throwsErrors ? "Try" : "") + "\(name)" }
}

/// Tells whether a value can settle the result of a ``ReduceStage`` before upstream completes.
@usableFromInline enum Settling {
  case never
  /// As in `contains`, which otherwise has a result when upstream completes.
  case possible
  /// As in `first`, whose only purpose is to find such a value.
  case expected
}
