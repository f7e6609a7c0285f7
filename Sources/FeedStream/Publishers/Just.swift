/// Delivers one value, then finishes.
///
///     Just(1)    1|
///
/// **Demand:** the value waits for the first request. **Cancellation:** at once.
@frozen
public struct Just<Output>: Publisher {
  public typealias Failure = Never

  /// The value.
  public let output: Output

  @inlinable
  public init(_ output: Output) { self.output = output }

  @inlinable
  public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
    subscriber.attach("Just", delivering: output)
  }
}

extension Just: Equatable where Output: Equatable {}

// MARK: - Operators, applied at once

extension Just: ConstantPublisher {
  @inlinable
  public var constant: Result<Output?, Never> { .success(output) }

  @inlinable
  public func map<T>(_ transform: (Output) -> T) -> Just<T> { Just<T>(transform(output)) }
  @inlinable
  public func collect() -> Just<[Output]> { Just<[Output]>([output]) }
  @inlinable
  public func count() -> Just<Int> { Just<Int>(1) }
  @inlinable
  public func allSatisfy(_ predicate: (Output) -> Bool) -> Just<Bool> { map(predicate) }
  @inlinable
  public func contains(where predicate: (Output) -> Bool) -> Just<Bool> { map(predicate) }
  @inlinable
  public func contains(_ output: Output) -> Just<Bool> where Output: Equatable { map { $0 == output } }
  @inlinable
  public func replaceError(with output: Output) -> Just<Output> { self }
  @inlinable
  public func replaceEmpty(with output: Output) -> Just<Output> { self }

  /// Delivers the value when `range` starts at zero. As in Combine, the range's end is not looked at.
  @inlinable
  public func output<R: RangeExpression>(in range: R) -> Optional<Output>.Publisher where R.Bound == Int {
    Optional.Publisher(range.relative(to: 0..<Int.max).lowerBound == 0 ? output : nil)
  }

  @inlinable
  public func prepend(_ elements: Output...) -> Publishers.Sequence<[Output], Never> { prepend(elements) }
  @inlinable
  public func prepend<S: Sequence>(_ elements: S) -> Publishers.Sequence<[Output], Never> where S.Element == Output {
    Publishers.Sequence(sequence: elements + [output])
  }
  @inlinable
  public func append(_ elements: Output...) -> Publishers.Sequence<[Output], Never> { append(elements) }
  @inlinable
  public func append<S: Sequence>(_ elements: S) -> Publishers.Sequence<[Output], Never> where S.Element == Output {
    Publishers.Sequence(sequence: [output] + elements)
  }
}

// What may fail is a `Result`'s business.
extension Just {
  @inlinable
  var asResult: Result<Output, Never>.Publisher { Result.Publisher(output) }

  @inlinable
  public func setFailureType<E: Error>(to failureType: E.Type) -> Result<Output, E>.Publisher {
    asResult.setFailureType(to: failureType)
  }
  @inlinable
  public func mapError<E: Error>(_ transform: (Never) -> E) -> Result<Output, E>.Publisher {
    asResult.mapError(transform)
  }
  @inlinable
  public func tryMap<T>(_ transform: (Output) throws -> T) -> Result<T, any Error>.Publisher {
    asResult.tryMap(transform)
  }
  @inlinable
  public func tryAllSatisfy(_ predicate: (Output) throws -> Bool) -> Result<Bool, any Error>.Publisher {
    asResult.tryMap(predicate)
  }
  @inlinable
  public func tryContains(where predicate: (Output) throws -> Bool) -> Result<Bool, any Error>.Publisher {
    asResult.tryMap(predicate)
  }
  @inlinable
  public func tryRemoveDuplicates(
    by predicate: (Output, Output) throws -> Bool
  ) -> Result<Output, any Error>.Publisher {
    asResult.tryRemoveDuplicates(by: predicate)
  }
  @inlinable
  public func reduce<T>(_ initialResult: T, _ nextPartialResult: (T, Output) -> T) -> Result<T, Never>.Publisher {
    asResult.reduce(initialResult, nextPartialResult)
  }
  @inlinable
  public func tryReduce<T>(
    _ initialResult: T, _ nextPartialResult: (T, Output) throws -> T
  ) -> Result<T, any Error>.Publisher {
    asResult.tryReduce(initialResult, nextPartialResult)
  }
  @inlinable
  public func scan<T>(_ initialResult: T, _ nextPartialResult: (T, Output) -> T) -> Result<T, Never>.Publisher {
    asResult.scan(initialResult, nextPartialResult)
  }
  @inlinable
  public func tryScan<T>(
    _ initialResult: T, _ nextPartialResult: (T, Output) throws -> T
  ) -> Result<T, any Error>.Publisher {
    asResult.tryScan(initialResult, nextPartialResult)
  }
}
