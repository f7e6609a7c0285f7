extension Publisher {
  /// Delivers another publisher's values after this one has finished.
  ///
  ///     upstream    --a--b|
  ///     suffix            --1--2|
  ///     append(suffix)
  ///     downstream  --a--b--1--2|
  ///
  /// ![append(other)](marbles-append.svg)
  ///
  /// Subscribes to the suffix when this publisher finishes. **Demand:** the outstanding demand passes to the suffix.
  /// **Failure:** ends the stream; if this publisher fails, the suffix is not subscribed to. **Cancellation:** cancels
  /// the running publisher. **Policy:** forwards.
  @inlinable public func append<P: Publisher<Output, Failure>>(_ publisher: P) -> Publishers.Concatenate<Self, P> {
    Publishers.Concatenate(prefix: self, suffix: publisher)
  }

  /// Delivers a sequence's elements after this publisher has finished.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/append(_:)-(P)``.
  @inlinable public func append<S: Sequence>(
    _ elements: S
  ) -> Publishers.Concatenate<Self, Publishers.Sequence<S, Failure>> where S.Element == Output {
    append(Publishers.Sequence(sequence: elements))
  }

  /// Delivers the elements after this publisher has finished.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/append(_:)-(P)``.
  @inlinable
  public func append(_ elements: Output...) -> Publishers.Concatenate<Self, Publishers.Sequence<[Output], Failure>> {
    append(elements)
  }

  /// Delivers another publisher's values first, and this publisher's values after the other has finished.
  ///
  ///     prefix      --1--2|
  ///     upstream          --a--b--|
  ///     prepend(prefix)
  ///     downstream  --1--2--a--b--|
  ///
  /// **Demand:** the outstanding demand passes to this publisher. **Failure:** ends the stream; if `publisher` fails,
  /// this one is not subscribed to. **Cancellation:** cancels the running publisher. **Policy:** forwards.
  @inlinable public func prepend<P: Publisher<Output, Failure>>(_ publisher: P) -> Publishers.Concatenate<P, Self> {
    Publishers.Concatenate(prefix: publisher, suffix: self)
  }

  /// Delivers a sequence's elements first.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/prepend(_:)-(P)``.
  @inlinable public func prepend<S: Sequence>(
    _ elements: S
  ) -> Publishers.Concatenate<Publishers.Sequence<S, Failure>, Self> where S.Element == Output {
    prepend(Publishers.Sequence(sequence: elements))
  }

  /// Delivers the elements first.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/prepend(_:)-(P)``.
  @inlinable
  public func prepend(_ elements: Output...) -> Publishers.Concatenate<Publishers.Sequence<[Output], Failure>, Self> {
    prepend(elements)
  }
}

extension Publisher {
  /// Delivers the values of this publisher, and then those of a publisher that cannot fail.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/append(_:)-(P)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func append<P: Publisher<Output, Never>>(
    _ publisher: P
  ) -> Publishers.Concatenate<Self, Publishers.SetFailureType<P, Failure>> {
    append(publisher.setFailureType(to: Failure.self))
  }

  /// Delivers the values of a publisher that cannot fail, and then those of this publisher.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/prepend(_:)-(P)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func prepend<P: Publisher<Output, Never>>(
    _ publisher: P
  ) -> Publishers.Concatenate<Publishers.SetFailureType<P, Failure>, Self> {
    prepend(publisher.setFailureType(to: Failure.self))
  }
}

extension Publisher where Failure == Never {
  /// Delivers the values of this publisher, which cannot fail, and then those of a publisher that can.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/append(_:)-(P)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func append<P: Publisher>(
    _ publisher: P
  ) -> Publishers.Concatenate<Publishers.SetFailureType<Self, P.Failure>, P> where P.Output == Output {
    setFailureType(to: P.Failure.self).append(publisher)
  }

  /// Delivers the values of a publisher that can fail, and then those of this publisher, which cannot.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/prepend(_:)-(P)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func prepend<P: Publisher>(
    _ publisher: P
  ) -> Publishers.Concatenate<P, Publishers.SetFailureType<Self, P.Failure>> where P.Output == Output {
    setFailureType(to: P.Failure.self).prepend(publisher)
  }
}

extension Publishers {
  /// See ``Publisher/append(_:)-(P)``.
  @frozen
  public struct Concatenate<Prefix: Publisher, Suffix: Publisher<Prefix.Output, Prefix.Failure>>: Publisher,
    _JoinsPublishers
  {
    public typealias Output = Suffix.Output
    public typealias Failure = Suffix.Failure

    public let prefix: Prefix
    public let suffix: Suffix

    @inlinable public init(prefix: Prefix, suffix: Suffix) {
      self.prefix = prefix
      self.suffix = suffix
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let stage = ConcatenateStage<Output, Failure>("Concatenate", ErasedSubscriber(subscriber)) { [suffix] in
        suffix.receive(subscriber: SuffixStage(downstream: $0))
      }
      stage.subscribe { [prefix] in prefix.receive(subscriber: $0) }
    }
  }
}

extension Publishers.Concatenate: Equatable where Prefix: Equatable, Suffix: Equatable {}

/// The suffix's subscriber, which forwards to the stage. Its type differs from that of the prefix's subscriber.
@frozen @usableFromInline struct SuffixStage<Downstream: Subscriber>: FusedStage {
  @usableFromInline typealias Input = Downstream.Input
  @usableFromInline typealias Failure = Downstream.Failure

  @usableFromInline let downstream: Downstream

  @inlinable init(downstream: Downstream) { self.downstream = downstream }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand { downstream.receive(input) }
  // This type does not count as a fused stage.
  @inlinable static var fusedStages: Int { @inline(__always) get { Downstream.fusedStages } }
  @usableFromInline var description: String { "\(downstream)" }
}

/// Delivers one publisher after another; with `onlyIfEmpty`, the second follows only if the first delivered no value.
@usableFromInline final class ConcatenateStage<Output, Failure: Error>: SequentialStage<Output, Failure> {
  @exclusivity(unchecked) @usableFromInline var suffix: ((Inlet<SequentialPort<Output, Failure>>) -> Void)?
  @exclusivity(unchecked) @usableFromInline var hasBegun = false
  @usableFromInline let onlyIfEmpty: Bool

  @inlinable init(
    _ name: StaticString, _ down: ErasedSubscriber<Output, Failure>, onlyIfEmpty: Bool = false,
    suffix: @escaping (Inlet<SequentialPort<Output, Failure>>) -> Void
  ) {
    self.suffix = suffix
    self.onlyIfEmpty = onlyIfEmpty
    super.init(name, down, following: .withoutHome)
  }

  @inlinable override func began(_ inlet: Inlet<SequentialPort<Output, Failure>>) {
    if hasBegun { return super.began(inlet) }
    hasBegun = true
    down.receive(subscription: self)
  }

  @inlinable override func ended(_ completion: Subscribers.Completion<Failure>) {
    guard case .finished = completion, let suffix, !(onlyIfEmpty && hasDelivered) else { return end(completion) }
    self.suffix = nil
    // As in Combine, subscribe while handling the completion, even if upstream completes while it is being subscribed
    // to. There is only one suffix, so the stack stays flat without a loop.
    upcoming = suffix
    startsUpcoming = true
  }

  override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    if suffix != nil, !onlyIfEmpty { facts.note = "the next publisher begins when this one completes" }
  }

  @inlinable override func cancelUpstreams() {
    super.cancelUpstreams()
    if suffix != nil { discard(suffix.take()) }
  }
}
