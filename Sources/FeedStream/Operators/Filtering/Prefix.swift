extension Publisher {
  /// Delivers the first `maxLength` values, then finishes.
  ///
  ///     upstream    --a--b--c--d--|
  ///     prefix(2)
  ///     downstream  --a--b|
  ///
  /// ![prefix(2)](marbles-prefix.svg)
  ///
  /// **Demand:** passes through; upstream is cancelled after the last value, or immediately if `maxLength` is 0.
  /// **Failure, cancellation:** pass through. **Policy:** forwards.
  ///
  /// - Precondition: `maxLength` is not negative.
  @inlinable public func prefix(_ maxLength: Int) -> Publishers.Output<Self> {
    precondition(maxLength >= 0, "prefix(\(maxLength)): the number of values cannot be negative; use 0 or more")
    return output(in: 0..<maxLength)
  }

  /// Delivers the value at `index`, counted from zero, then finishes.
  ///
  ///     upstream    --a--b--c--d--|
  ///     output(at: 1)
  ///     downstream  -----b|
  ///
  /// **Demand:** requests one more value for each one left out; upstream is cancelled after the delivered value.
  /// **Failure, cancellation:** pass through. **Policy:** forwards one value; leaves out the others, by design.
  ///
  /// - Precondition: `index` is not negative.
  @inlinable public func output(at index: Int) -> Publishers.Output<Self> {
    precondition(index >= 0, "output(at: \(index)): an index cannot be negative; use 0 or more")
    return output(in: index...index)
  }

  /// Delivers the values at the indices in `range`, counted from zero, then finishes.
  ///
  ///     upstream    --a--b--c--d--|
  ///     output(in: 1...2)
  ///     downstream  -----b--c|
  ///
  /// **Demand:** requests one more value for each one left out; upstream is cancelled after the last value, or
  /// immediately if `range` is empty. **Failure, cancellation:** pass through. **Policy:** forwards; leaves out the
  /// others, by design.
  ///
  /// - Precondition: no index in `range` is negative.
  @inlinable public func output<R: RangeExpression>(in range: R) -> Publishers.Output<Self> where R.Bound == Int {
    if let range = range as? ClosedRange<Int> {
      precondition(range.lowerBound >= 0, "output(in: \(range)): an index cannot be negative; use 0 or more")
    }
    return Publishers.Output(upstream: self, range: range.outputIndices)
  }
}

extension RangeExpression<Int> {
  /// The indices in this range, for `output(in:)`, which checks that none is negative. Alone, `relative(to:)` traps for
  /// a last index of `Int.max` or -1, without naming the operator. No publisher delivers `Int.max` values.
  @inlinable var outputIndices: Range<Int> {
    switch self {
    case let range as ClosedRange<Int>: Range(range.clamped(to: Int.min...(Int.max - 1)))
    case let range as PartialRangeThrough<Int>: (Swift.min(range.upperBound, 0)...range.upperBound).outputIndices
    case let range as PartialRangeUpTo<Int>: Swift.min(range.upperBound, 0)..<range.upperBound
    default: relative(to: 0..<Int.max)
    }
  }
}

extension Publishers {
  /// See ``Publisher/output(in:)``.
  @frozen public struct Output<Upstream: Publisher>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let range: CountableRange<Int>

    @inlinable public init(upstream: Upstream, range: CountableRange<Int>) {
      precondition(range.lowerBound >= 0, "output(in: \(range)): an index cannot be negative; use 0 or more")
      self.upstream = upstream
      self.range = range
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(stage: OutputStage<Output, Failure>(ErasedSubscriber(subscriber), range))
    }
  }
}

extension Publishers.Output: Equatable where Upstream: Equatable {}

@usableFromInline final class OutputStage<Input, Failure: Error>: Stage<Input, Failure>, Subscriber {
  @exclusivity(unchecked) @usableFromInline var toDrop: Int
  @exclusivity(unchecked) @usableFromInline var toDeliver: Int
  @usableFromInline let isNothing: Bool
  @exclusivity(unchecked) @usableFromInline var isDeliveringLast = false

  @inlinable init(_ down: ErasedSubscriber<Input, Failure>, _ range: CountableRange<Int>) {
    isNothing = range.isEmpty
    toDrop = range.lowerBound
    toDeliver = range.count
    super.init(down)
  }

  @inlinable override func began() {
    if isNothing { began(completing: .finished) } else { super.began() }
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents || takesStray() else { return .none }
    if toDrop > 0 {
      toDrop &-= 1
      return .max(1)
    }
    // Subtract before the delivery, because the subscriber may call back into this stage.
    toDeliver &-= 1
    if toDeliver > 0 { return down.receive(input) }
    return deliverLast(input)
  }

  @inline(never) @usableFromInline func deliverLast(_ input: Input) -> Subscribers.Demand {
    guard toDeliver == 0 else {
      // Nothing is left to deliver: either all values arrived before the subscription, or this one arrives during the
      // last delivery.
      if !isDeliveringLast { stop(.finished) }
      return .none
    }
    isDeliveringLast = true
    let more = down.receive(input)
    isDeliveringLast = false
    stop(.finished)
    return more
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) { finish(completion) }

  override var strays: Strays { .valuesPass }
}
