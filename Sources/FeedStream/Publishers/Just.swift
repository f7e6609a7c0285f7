/// Delivers one value, then finishes.
///
///     Just(1)    1|
///
/// **Demand:** the value waits for the first request. **Failure:** none. **Cancellation:** at once. **Policy:**
/// forwards.
@frozen public struct Just<Output>: Publisher {
  public typealias Failure = Never

  /// The value.
  public let output: Output

  @inlinable public init(_ output: Output) { self.output = output }

  @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
    subscriber.attach("Just", delivering: output)
  }

  @inlinable public func deliverAll(to deliver: (Output) -> Bool) -> Bool {
    _ = deliver(output)
    return true
  }
}

extension Just: Equatable where Output: Equatable {}

// MARK: - Operators, applied at once

extension Just: ConstantPublisher {
  @inlinable public var constant: Result<Output?, Never> { .success(output) }

  /// As `map(_:)` of any publisher, applied at once.
  @inlinable public func map<T>(_ transform: (Output) -> T) -> Just<T> { Just<T>(transform(output)) }

  /// As `collect()` of any publisher, applied at once.
  @inlinable public func collect() -> Just<[Output]> { Just<[Output]>([output]) }

  /// As `count()` of any publisher, applied at once.
  @inlinable public func count() -> Just<Int> { Just<Int>(1) }

  /// As `allSatisfy(_:)` of any publisher, applied at once.
  @inlinable public func allSatisfy(_ predicate: (Output) -> Bool) -> Just<Bool> { map(predicate) }

  /// As `contains(where:)` of any publisher, applied at once.
  @inlinable public func contains(where predicate: (Output) -> Bool) -> Just<Bool> { map(predicate) }

  /// As `contains(_:)` of any publisher, applied at once.
  @inlinable public func contains(_ output: Output) -> Just<Bool> where Output: Equatable { map { $0 == output } }

  /// As `replaceError(with:)` of any publisher, applied at once.
  @inlinable public func replaceError(with output: Output) -> Just<Output> { self }

  /// As `replaceEmpty(with:)` of any publisher, applied at once.
  @inlinable public func replaceEmpty(with output: Output) -> Just<Output> { self }

  /// As `output(in:)` of any publisher, applied at once; but as in Combine, the range's end is not looked at.
  @inlinable public func output<R: RangeExpression>(in range: R) -> Optional<Output>.Publisher where R.Bound == Int {
    Optional.Publisher(range.relative(to: 0..<Int.max).lowerBound == 0 ? output : nil)
  }

  /// As `prepend(_:)` of any publisher, applied at once.
  @inlinable public func prepend(_ elements: Output...) -> Publishers.Sequence<[Output], Never> { prepend(elements) }

  /// As `prepend(_:)` of any publisher, applied at once.
  @inlinable
  public func prepend<S: Sequence>(_ elements: S) -> Publishers.Sequence<[Output], Never> where S.Element == Output {
    Publishers.Sequence(sequence: elements + [output])
  }

  /// As `append(_:)` of any publisher, applied at once.
  @inlinable public func append(_ elements: Output...) -> Publishers.Sequence<[Output], Never> { append(elements) }

  /// As `append(_:)` of any publisher, applied at once.
  @inlinable
  public func append<S: Sequence>(_ elements: S) -> Publishers.Sequence<[Output], Never> where S.Element == Output {
    Publishers.Sequence(sequence: [output] + elements)
  }
}

// What may fail is a `Result`'s business.
extension Just {
  @inlinable var asResult: Result<Output, Never>.Publisher { Result.Publisher(output) }

  /// As `setFailureType(to:)` of any publisher, applied at once.
  @inlinable public func setFailureType<E: Error>(to failureType: E.Type) -> Result<Output, E>.Publisher {
    asResult.setFailureType(to: failureType)
  }

  /// As `mapError(_:)` of any publisher, applied at once.
  @inlinable public func mapError<E: Error>(_ transform: (Never) -> E) -> Result<Output, E>.Publisher {
    asResult.mapError(transform)
  }

  /// As `tryMap(_:)` of any publisher, applied at once.
  @inlinable public func tryMap<T>(_ transform: (Output) throws -> T) -> Result<T, any Error>.Publisher {
    asResult.tryMap(transform)
  }

  /// As `tryAllSatisfy(_:)` of any publisher, applied at once.
  @inlinable public func tryAllSatisfy(_ predicate: (Output) throws -> Bool) -> Result<Bool, any Error>.Publisher {
    asResult.tryMap(predicate)
  }

  /// As `tryContains(where:)` of any publisher, applied at once.
  @inlinable public func tryContains(where predicate: (Output) throws -> Bool) -> Result<Bool, any Error>.Publisher {
    asResult.tryMap(predicate)
  }

  /// As `tryRemoveDuplicates(by:)` of any publisher, applied at once; as in Combine, to the value and itself.
  @inlinable public func tryRemoveDuplicates(
    by predicate: (Output, Output) throws -> Bool
  ) -> Result<Output, any Error>.Publisher {
    asResult.tryRemoveDuplicates(by: predicate)
  }

  /// As `reduce(_:_:)` of any publisher, applied at once.
  @inlinable
  public func reduce<T>(_ initialResult: T, _ nextPartialResult: (T, Output) -> T) -> Result<T, Never>.Publisher {
    asResult.reduce(initialResult, nextPartialResult)
  }

  /// As `tryReduce(_:_:)` of any publisher, applied at once.
  @inlinable public func tryReduce<T>(
    _ initialResult: T, _ nextPartialResult: (T, Output) throws -> T
  ) -> Result<T, any Error>.Publisher {
    asResult.tryReduce(initialResult, nextPartialResult)
  }

  /// As `scan(_:_:)` of any publisher, applied at once.
  @inlinable
  public func scan<T>(_ initialResult: T, _ nextPartialResult: (T, Output) -> T) -> Result<T, Never>.Publisher {
    asResult.scan(initialResult, nextPartialResult)
  }

  /// As `tryScan(_:_:)` of any publisher, applied at once.
  @inlinable public func tryScan<T>(
    _ initialResult: T, _ nextPartialResult: (T, Output) throws -> T
  ) -> Result<T, any Error>.Publisher {
    asResult.tryScan(initialResult, nextPartialResult)
  }
}
