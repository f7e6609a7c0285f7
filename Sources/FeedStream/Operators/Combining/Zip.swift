extension Publisher {
  /// Pairs each value with another publisher's value at the same index.
  ///
  ///     upstream    --a--b-----c--|
  ///     other       -----1--2-----3--|
  ///     zip(other)
  ///     downstream  -----a1-b2----c3|
  ///
  /// ![zip(other) { $0 + $1 }](marbles-zip.svg)
  ///
  /// Subscribes to both publishers before the subscriber receives its subscription, even when the first is empty.
  /// Finishes when one has finished and its last value has been paired. **Demand:** passes to both. **Failure:** the
  /// first failure cancels the other publisher and ends the stream; complete pairs are delivered before it.
  /// **Cancellation:** cancels both. **Policy:** a value waits for its partner, so values of the faster publisher are
  /// held, up to the requested number; values that still have no partner at the completion are dropped and reported.
  @inlinable public func zip<P: Publisher>(_ other: P) -> Publishers.Zip<Self, P> where P.Failure == Failure {
    Publishers.Zip(self, other)
  }

  /// Pairs each value with another publisher's value at the same index, and maps the pairs with `transform`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``.
  @inlinable public func zip<P: Publisher, T>(
    _ other: P, _ transform: @escaping (Output, P.Output) -> T
  ) -> Publishers.Map<Publishers.Zip<Self, P>, T> where P.Failure == Failure {
    zip(other).map(transform)
  }

  /// Combines values at the same index from three publishers.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``.
  @inlinable
  public func zip<P: Publisher, Q: Publisher>(_ publisher1: P, _ publisher2: Q) -> Publishers.Zip3<Self, P, Q>
  where P.Failure == Failure, Q.Failure == Failure {
    Publishers.Zip3(self, publisher1, publisher2)
  }

  /// Combines values at the same index from three publishers, and maps them with `transform`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``.
  @inlinable public func zip<P: Publisher, Q: Publisher, T>(
    _ publisher1: P, _ publisher2: Q, _ transform: @escaping (Output, P.Output, Q.Output) -> T
  ) -> Publishers.Map<Publishers.Zip3<Self, P, Q>, T> where P.Failure == Failure, Q.Failure == Failure {
    zip(publisher1, publisher2).map(transform)
  }

  /// Combines values at the same index from four publishers.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``.
  @inlinable public func zip<P: Publisher, Q: Publisher, R: Publisher>(
    _ publisher1: P, _ publisher2: Q, _ publisher3: R
  ) -> Publishers.Zip4<Self, P, Q, R> where P.Failure == Failure, Q.Failure == Failure, R.Failure == Failure {
    Publishers.Zip4(self, publisher1, publisher2, publisher3)
  }

  /// Combines values at the same index from four publishers, and maps them with `transform`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``.
  @inlinable public func zip<P: Publisher, Q: Publisher, R: Publisher, T>(
    _ publisher1: P, _ publisher2: Q, _ publisher3: R,
    _ transform: @escaping (Output, P.Output, Q.Output, R.Output) -> T
  ) -> Publishers.Map<Publishers.Zip4<Self, P, Q, R>, T>
  where P.Failure == Failure, Q.Failure == Failure, R.Failure == Failure {
    zip(publisher1, publisher2, publisher3).map(transform)
  }
}

extension Publishers {
  /// See ``Publisher/zip(_:)``.
  @frozen public struct Zip<A: Publisher, B: Publisher>: Publisher, _JoinsPublishers where A.Failure == B.Failure {
    public typealias Output = (A.Output, B.Output)
    public typealias Failure = A.Failure

    public let a: A
    public let b: B

    @inlinable public init(_ a: A, _ b: B) {
      self.a = a
      self.b = b
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      PairStage(ErasedSubscriber(subscriber), Pairing<A.Output, B.Output>()).start(a, b)
    }
  }

  /// See ``Publisher/zip(_:_:)-(P,Q)``.
  @frozen public struct Zip3<A: Publisher, B: Publisher, C: Publisher>: Publisher, _JoinsPublishers
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
      LaneStage(.pairing, ErasedSubscriber(subscriber)).start(a, b, c)
    }
  }

  /// See ``Publisher/zip(_:_:_:)-(P,Q,R)``.
  @frozen public struct Zip4<A: Publisher, B: Publisher, C: Publisher, D: Publisher>: Publisher, _JoinsPublishers
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
      LaneStage(.pairing, ErasedSubscriber(subscriber)).start(a, b, c, d)
    }
  }
}

extension Publishers.Zip: Equatable where A: Equatable, B: Equatable {}
extension Publishers.Zip3: Equatable where A: Equatable, B: Equatable, C: Equatable {}
extension Publishers.Zip4: Equatable where A: Equatable, B: Equatable, C: Equatable, D: Equatable {}

/// Keeps each value until it has a partner.
@frozen @usableFromInline struct Pairing<First, Second>: PairRule {
  @usableFromInline var firsts = FIFO<First>()
  @usableFromInline var seconds = FIFO<Second>()

  @inlinable init() {}

  @inlinable static var joins: JoinRule { .pairing }

  @inlinable mutating func take(first value: First) -> First? {
    firsts.append(value)
    return nil
  }

  @inlinable mutating func take(second value: Second) -> Second? {
    seconds.append(value)
    return nil
  }

  @inlinable var hasNext: Bool { !firsts.isEmpty && !seconds.isEmpty }
  @inlinable mutating func next() -> (First, Second) { (firsts.removeFirst(), seconds.removeFirst()) }

  @usableFromInline var held: [Int] { [firsts.count, seconds.count] }

  @usableFromInline mutating func dropRest() {
    while let value = firsts.popFirst() { StreamDiagnostics.dropped(value, Self.joins.name, .terminated) }
    while let value = seconds.popFirst() { StreamDiagnostics.dropped(value, Self.joins.name, .terminated) }
  }

  @inlinable func isExhausted(firstEnded: Bool, secondEnded: Bool) -> Bool {
    (firstEnded && firsts.count <= seconds.count) || (secondEnded && seconds.count <= firsts.count)
  }

  @inlinable func isDone(firstEnded: Bool, secondEnded: Bool) -> Bool {
    (firstEnded && firsts.isEmpty) || (secondEnded && seconds.isEmpty)
  }
}
