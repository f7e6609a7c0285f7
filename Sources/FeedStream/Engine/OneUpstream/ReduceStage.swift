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

  private let name: StaticString
  private let settling: Settling
  /// True when the result holds the values themselves.
  private let keepsValues: Bool
  @usableFromInline let rule: Rule
  @exclusivity(unchecked) @usableFromInline var result: NonReentrant<Output?>
  @exclusivity(unchecked) @usableFromInline private(set) var isAsked = false
  /// True when upstream has finished while the rule is handling a value. The result includes that value.
  @exclusivity(unchecked) @usableFromInline var hasEndedWithin = false

  /// - Parameters:
  ///   - settling: tells whether a value can settle the result, for the map.
  ///   - keepsValues: true when the result holds the values themselves: a failure then drops and reports them.
  ///   - rule: updates the result with a value; returns true when the result is settled.
  @usableFromInline init(
    _ name: StaticString, _ down: ErasedSubscriber<Output, Mode.Failure>, _ initial: Output?,
    _ settling: Settling = .never, keepsValues: Bool = false, _ rule: @escaping Rule
  ) {
    self.name = name
    self.settling = settling
    self.keepsValues = keepsValues
    self.rule = rule
    result = NonReentrant(initial)
    super.init(down)
  }

  override func began() {
    super.began()
    up?.request(.unlimited)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents else { return .none }
    var current = result.enter(for: placed(self))
    do throws(Mode.RuleError) {
      let isSettled = try rule(&current, input)
      guard isLive else { return .none }
      result.leave(current)
      if isSettled || hasEndedWithin { conclude(cancelling: !hasEndedWithin) }
    } catch {
      stop(.failure(Mode.failure(ofRule: error)))
    }
    return .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    switch completion {
    case .finished where result.value == nil: hasEndedWithin = true
    case .finished: conclude(cancelling: false)
    case .failure(let error):
      if keepsValues, let values = result.value as? [Input] {
        for value in values { StreamDiagnostics.dropped(value, name, .terminated) }
      }
      finish(.failure(Mode.failure(ofUpstream: error)))
    }
  }

  @inline(never) @usableFromInline func conclude(cancelling: Bool) {
    let value = result.value ?? nil
    result = NonReentrant(nil)
    finish(with: value, isAsked: isAsked, cancelling: cancelling)
  }

  override func forget() {
    super.forget()
    discard(exchange(&result, with: NonReentrant(nil)))
  }

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
