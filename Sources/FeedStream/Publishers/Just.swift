/// Delivers one value, then finishes.
///
///     Just(1)    1|
///
/// **Demand:** the value waits for the first request. **Failure:** none. **Cancellation:** immediate. **Policy:**
/// forwards.
@frozen public struct Just<Output>: Publisher, _DeliversAtHome {
  public typealias Failure = Never

  /// The value.
  public let output: Output

  @inlinable public init(_ output: Output) { self.output = output }

  @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
    subscriber.attach("Just", delivering: output)
  }

  @inlinable public func _deliverAll(to deliver: (Output) -> Bool) -> Bool {
    _ = deliver(output)
    return true
  }
}

extension Just: Equatable where Output: Equatable {}

// MARK: - Operators, applied immediately

extension Just: ConstantPublisher {
  @inlinable public var constant: Result<Output?, Never> { .success(output) }

  /// Like `map(_:)` on other publishers, but applied immediately.
  @inlinable public func map<T>(_ transform: (Output) -> T) -> Just<T> { Just<T>(transform(output)) }

  /// Like `collect()` on other publishers, but applied immediately.
  @inlinable public func collect() -> Just<[Output]> { Just<[Output]>([output]) }

  /// Like `count()` on other publishers, but applied immediately.
  @inlinable public func count() -> Just<Int> { Just<Int>(1) }

  /// Like `allSatisfy(_:)` on other publishers, but applied immediately.
  @inlinable public func allSatisfy(_ predicate: (Output) -> Bool) -> Just<Bool> { map(predicate) }

  /// Like `contains(where:)` on other publishers, but applied immediately.
  @inlinable public func contains(where predicate: (Output) -> Bool) -> Just<Bool> { map(predicate) }

  /// Like `contains(_:)` on other publishers, but applied immediately.
  @inlinable public func contains(_ output: Output) -> Just<Bool> where Output: Equatable { map { $0 == output } }

  /// Like `replaceError(with:)` on other publishers, but applied immediately.
  @inlinable public func replaceError(with output: Output) -> Just<Output> { self }

  /// Like `replaceEmpty(with:)` on other publishers, but applied immediately.
  @inlinable public func replaceEmpty(with output: Output) -> Just<Output> { self }

  /// Like `output(in:)` on other publishers, but applied immediately; as in Combine, the range's upper bound is
  /// ignored.
  @inlinable public func output<R: RangeExpression>(in range: R) -> Optional<Output>.Publisher where R.Bound == Int {
    Optional.Publisher(range.outputIndices.lowerBound == 0 ? output : nil)
  }

  /// Like `prepend(_:)` on other publishers, but applied immediately.
  @inlinable public func prepend(_ elements: Output...) -> Publishers.Sequence<[Output], Never> { prepend(elements) }

  /// Like `prepend(_:)` on other publishers, but applied immediately.
  @inlinable
  public func prepend<S: Sequence>(_ elements: S) -> Publishers.Sequence<[Output], Never> where S.Element == Output {
    Publishers.Sequence(sequence: elements + [output])
  }

  /// Like `append(_:)` on other publishers, but applied immediately.
  @inlinable public func append(_ elements: Output...) -> Publishers.Sequence<[Output], Never> { append(elements) }

  /// Like `append(_:)` on other publishers, but applied immediately.
  @inlinable
  public func append<S: Sequence>(_ elements: S) -> Publishers.Sequence<[Output], Never> where S.Element == Output {
    Publishers.Sequence(sequence: [output] + elements)
  }
}

// As in Combine, these operators return a `Result.Publisher`.
extension Just {
  @inlinable var asResult: Result<Output, Never>.Publisher { Result.Publisher(output) }

  /// Like `setFailureType(to:)` on other publishers, but applied immediately.
  @inlinable public func setFailureType<E: Error>(to failureType: E.Type) -> Result<Output, E>.Publisher {
    asResult.setFailureType(to: failureType)
  }

  /// Like `mapError(_:)` on other publishers, but applied immediately.
  @inlinable public func mapError<E: Error>(_ transform: (Never) -> E) -> Result<Output, E>.Publisher {
    asResult.mapError(transform)
  }

  /// Like `tryMap(_:)` on other publishers, but applied immediately.
  @inlinable public func tryMap<T>(_ transform: (Output) throws -> T) -> Result<T, any Error>.Publisher {
    asResult.tryMap(transform)
  }

  /// Like `tryAllSatisfy(_:)` on other publishers, but applied immediately.
  @inlinable public func tryAllSatisfy(_ predicate: (Output) throws -> Bool) -> Result<Bool, any Error>.Publisher {
    asResult.tryMap(predicate)
  }

  /// Like `tryContains(where:)` on other publishers, but applied immediately.
  @inlinable public func tryContains(where predicate: (Output) throws -> Bool) -> Result<Bool, any Error>.Publisher {
    asResult.tryMap(predicate)
  }

  /// Like `tryRemoveDuplicates(by:)` on other publishers, but applied immediately; as in Combine, it compares the value
  /// with itself.
  @inlinable public func tryRemoveDuplicates(
    by predicate: (Output, Output) throws -> Bool
  ) -> Result<Output, any Error>.Publisher {
    asResult.tryRemoveDuplicates(by: predicate)
  }

  /// Like `reduce(_:_:)` on other publishers, but applied immediately.
  @inlinable
  public func reduce<T>(_ initialResult: T, _ nextPartialResult: (T, Output) -> T) -> Result<T, Never>.Publisher {
    asResult.reduce(initialResult, nextPartialResult)
  }

  /// Like `tryReduce(_:_:)` on other publishers, but applied immediately.
  @inlinable public func tryReduce<T>(
    _ initialResult: T, _ nextPartialResult: (T, Output) throws -> T
  ) -> Result<T, any Error>.Publisher {
    asResult.tryReduce(initialResult, nextPartialResult)
  }

  /// Like `scan(_:_:)` on other publishers, but applied immediately.
  @inlinable
  public func scan<T>(_ initialResult: T, _ nextPartialResult: (T, Output) -> T) -> Result<T, Never>.Publisher {
    asResult.scan(initialResult, nextPartialResult)
  }

  /// Like `tryScan(_:_:)` on other publishers, but applied immediately.
  @inlinable public func tryScan<T>(
    _ initialResult: T, _ nextPartialResult: (T, Output) throws -> T
  ) -> Result<T, any Error>.Publisher {
    asResult.tryScan(initialResult, nextPartialResult)
  }
}
