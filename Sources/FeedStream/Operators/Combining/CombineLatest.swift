extension Publisher {
  /// Pairs the newest values of this publisher and another, whenever either delivers a value. Nothing is delivered
  /// until both have delivered one.
  ///
  ///     upstream    --a------b--------|
  ///     other       -----1--------2------|
  ///     combineLatest(other)
  ///     downstream  -----a1--b1---b2-----|
  ///
  /// ![combineLatest(other) { $0 + $1 }](marbles-combineLatest.svg)
  ///
  /// Subscribes to both publishers before the subscriber receives its subscription, even when the first is empty.
  /// Finishes when both have finished, or when one has finished without a value. **Demand:** passes to both.
  /// **Failure:** the first failure cancels the other publisher and ends the stream. **Cancellation:** cancels both.
  /// **Policy:** while there is no demand, newer values replace undelivered older ones, by design. Combinations made
  /// during a delivery are held, up to the requested number, and delivered after it.
  @inlinable
  public func combineLatest<P: Publisher>(_ other: P) -> Publishers.CombineLatest<Self, P> where P.Failure == Failure {
    Publishers.CombineLatest(self, other)
  }

  /// Combines the newest values of two publishers with `transform`, whenever either delivers a value.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``.
  @inlinable public func combineLatest<P: Publisher, T>(
    _ other: P, _ transform: @escaping (Output, P.Output) -> T
  ) -> Publishers.Map<Publishers.CombineLatest<Self, P>, T> where P.Failure == Failure {
    combineLatest(other).map(transform)
  }

  /// Combines the newest values of three publishers, whenever one of them delivers a value.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``.
  @inlinable public func combineLatest<P: Publisher, Q: Publisher>(
    _ publisher1: P, _ publisher2: Q
  ) -> Publishers.CombineLatest3<Self, P, Q> where P.Failure == Failure, Q.Failure == Failure {
    Publishers.CombineLatest3(self, publisher1, publisher2)
  }

  /// Combines the newest values of three publishers with `transform`, whenever one of them delivers a value.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``.
  @inlinable public func combineLatest<P: Publisher, Q: Publisher, T>(
    _ publisher1: P, _ publisher2: Q, _ transform: @escaping (Output, P.Output, Q.Output) -> T
  ) -> Publishers.Map<Publishers.CombineLatest3<Self, P, Q>, T> where P.Failure == Failure, Q.Failure == Failure {
    combineLatest(publisher1, publisher2).map(transform)
  }

  /// Combines the newest values of four publishers, whenever one of them delivers a value.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``.
  @inlinable public func combineLatest<P: Publisher, Q: Publisher, R: Publisher>(
    _ publisher1: P, _ publisher2: Q, _ publisher3: R
  ) -> Publishers.CombineLatest4<Self, P, Q, R>
  where P.Failure == Failure, Q.Failure == Failure, R.Failure == Failure {
    Publishers.CombineLatest4(self, publisher1, publisher2, publisher3)
  }

  /// Combines the newest values of four publishers with `transform`, whenever one of them delivers a value.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``.
  @inlinable public func combineLatest<P: Publisher, Q: Publisher, R: Publisher, T>(
    _ publisher1: P, _ publisher2: Q, _ publisher3: R,
    _ transform: @escaping (Output, P.Output, Q.Output, R.Output) -> T
  ) -> Publishers.Map<Publishers.CombineLatest4<Self, P, Q, R>, T>
  where P.Failure == Failure, Q.Failure == Failure, R.Failure == Failure {
    combineLatest(publisher1, publisher2, publisher3).map(transform)
  }
}

extension Publishers {
  /// See ``Publisher/combineLatest(_:)``.
  @frozen public struct CombineLatest<A: Publisher, B: Publisher>: Publisher, _JoinsPublishers
  where A.Failure == B.Failure {
    public typealias Output = (A.Output, B.Output)
    public typealias Failure = A.Failure

    public let a: A
    public let b: B

    @inlinable public init(_ a: A, _ b: B) {
      self.a = a
      self.b = b
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      PairStage(ErasedSubscriber(subscriber), Latest<A.Output, B.Output>()).start(a, b)
    }
  }

  /// See ``Publisher/combineLatest(_:_:)-(P,Q)``.
  @frozen public struct CombineLatest3<A: Publisher, B: Publisher, C: Publisher>: Publisher, _JoinsPublishers
  where A.Failure == B.Failure, B.Failure == C.Failure {
    public typealias Output = (A.Output, B.Output, C.Output)
    public typealias Failure = A.Failure

    public let a: A
    public let b: B
    public let c: C

    @inlinable public init(_ a: A, _ b: B, _ c: C) {
      self.a = a
      self.b = b
      self.c = c
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      LaneStage(.latest, ErasedSubscriber(subscriber)).start(a, b, c)
    }
  }

  /// See ``Publisher/combineLatest(_:_:_:)-(P,Q,R)``.
  @frozen
  public struct CombineLatest4<A: Publisher, B: Publisher, C: Publisher, D: Publisher>: Publisher, _JoinsPublishers
  where A.Failure == B.Failure, B.Failure == C.Failure, C.Failure == D.Failure {
    public typealias Output = (A.Output, B.Output, C.Output, D.Output)
    public typealias Failure = A.Failure

    public let a: A
    public let b: B
    public let c: C
    public let d: D

    @inlinable public init(_ a: A, _ b: B, _ c: C, _ d: D) {
      self.a = a
      self.b = b
      self.c = c
      self.d = d
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      LaneStage(.latest, ErasedSubscriber(subscriber)).start(a, b, c, d)
    }
  }
}

extension Publishers.CombineLatest: Equatable where A: Equatable, B: Equatable {}
extension Publishers.CombineLatest3: Equatable where A: Equatable, B: Equatable, C: Equatable {}
extension Publishers.CombineLatest4: Equatable where A: Equatable, B: Equatable, C: Equatable, D: Equatable {}

/// Keeps the newest value of each upstream.
@frozen @usableFromInline struct Latest<First, Second>: PairRule {
  @usableFromInline var first: First?
  @usableFromInline var second: Second?
  /// True when the pair has changed since it was delivered.
  @usableFromInline var isFresh = false

  @inlinable init() {}

  @inlinable static var joins: JoinRule { .latest }

  @inlinable mutating func take(first value: First) -> First? {
    isFresh = true
    return exchange(&first, with: value)
  }

  @inlinable mutating func take(second value: Second) -> Second? {
    isFresh = true
    return exchange(&second, with: value)
  }

  @inlinable var hasNext: Bool { isFresh && first != nil && second != nil }
  @inlinable mutating func next() -> (First, Second) {
    isFresh = false
    return (first.unsafelyUnwrapped, second.unsafelyUnwrapped)
  }

  @usableFromInline var held: [Int] { [first == nil ? 0 : 1, second == nil ? 0 : 1] }

  /// Does nothing: undelivered values are not reported, because newer ones replace them by design.
  @usableFromInline mutating func dropRest() {}

  @inlinable func isExhausted(firstEnded: Bool, secondEnded: Bool) -> Bool {
    firstEnded && first == nil || secondEnded && second == nil
  }

  @inlinable func isDone(firstEnded: Bool, secondEnded: Bool) -> Bool {
    isExhausted(firstEnded: firstEnded, secondEnded: secondEnded) || firstEnded && secondEnded && !isFresh
  }
}
