extension Optional {
  /// A publisher that delivers this value, if there is one, and then finishes.
  @inlinable public var publisher: Publisher { Publisher(self) }

  /// Delivers the value if there is one, then finishes.
  ///
  ///     Optional(1).publisher          1|
  ///     Optional<Int>.none.publisher   |
  ///
  /// **Demand:** the value waits for the first request; without a value, the completion needs no request. **Failure:**
  /// none. **Cancellation:** immediate. **Policy:** forwards.
  @frozen public struct Publisher: ConstantPublisher, _DeliversAtHome {
    public typealias Output = Wrapped
    public typealias Failure = Never

    /// The value, if there is one.
    public let output: Wrapped?

    @inlinable public init(_ output: Wrapped?) { self.output = output }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Wrapped, S.Failure == Never {
      if let output { subscriber.attach("Optional", delivering: output) } else { subscriber.attach(ending: .finished) }
    }

    @inlinable public func _deliverAll(to deliver: (Output) -> Bool) -> Bool {
      if let output { _ = deliver(output) }
      return true
    }
  }

  /// OpenCombine's name for Combine's extension of `Optional`.
  public enum OCombine {
    public typealias Publisher = Optional<Wrapped>.Publisher
  }
}

extension Optional.Publisher: Equatable where Wrapped: Equatable {}

// MARK: - Operators, applied immediately

extension Optional.Publisher {
  @inlinable public var constant: Result<Wrapped?, Never> { .success(output) }

  /// Like `map(_:)` on other publishers, but applied immediately.
  @inlinable public func map<T>(_ transform: (Wrapped) -> T) -> Optional<T>.Publisher {
    Optional<T>.Publisher(output.map(transform))
  }

  /// Like `collect()` on other publishers, but applied immediately.
  @inlinable public func collect() -> Optional<[Wrapped]>.Publisher {
    Optional<[Wrapped]>.Publisher(output.map { [$0] } ?? [])
  }

  /// Like `count()` on other publishers, but applied immediately. As in Combine, the result is empty if the optional is
  /// `nil`.
  @inlinable public func count() -> Optional<Int>.Publisher { map { _ in 1 } }

  /// Like `allSatisfy(_:)` on other publishers, but applied immediately. As in Combine, the result is empty if the
  /// optional is `nil`.
  @inlinable public func allSatisfy(_ predicate: (Wrapped) -> Bool) -> Optional<Bool>.Publisher { map(predicate) }

  /// Like `contains(where:)` on other publishers, but applied immediately. As in Combine, the result is empty if the
  /// optional is `nil`.
  @inlinable public func contains(where predicate: (Wrapped) -> Bool) -> Optional<Bool>.Publisher { map(predicate) }

  /// Like `contains(_:)` on other publishers, but applied immediately. As in Combine, the result is empty if the
  /// optional is `nil`.
  @inlinable
  public func contains(_ output: Wrapped) -> Optional<Bool>.Publisher where Wrapped: Equatable { map { $0 == output } }

  /// Like `reduce(_:_:)` on other publishers, but applied immediately. As in Combine, the result is empty if the
  /// optional is `nil`.
  @inlinable
  public func reduce<T>(_ initialResult: T, _ nextPartialResult: (T, Wrapped) -> T) -> Optional<T>.Publisher {
    map { nextPartialResult(initialResult, $0) }
  }

  /// Like `scan(_:_:)` on other publishers, but applied immediately.
  @inlinable public func scan<T>(_ initialResult: T, _ nextPartialResult: (T, Wrapped) -> T) -> Optional<T>.Publisher {
    map { nextPartialResult(initialResult, $0) }
  }

  /// Like `replaceError(with:)` on other publishers, but applied immediately.
  @inlinable public func replaceError(with output: Wrapped) -> Self { self }

  /// Like `replaceEmpty(with:)` on other publishers, but applied immediately.
  @inlinable public func replaceEmpty(with output: Wrapped) -> Just<Wrapped> { Just(self.output ?? output) }

  /// Like `output(in:)` on other publishers, but applied immediately.
  @inlinable public func output<R: RangeExpression>(in range: R) -> Self where R.Bound == Int {
    let range = range.outputIndices
    precondition(range.lowerBound >= 0, "output(in: \(range)): an index cannot be negative; use 0 or more")
    return kept { _ in range.contains(0) }
  }
}
