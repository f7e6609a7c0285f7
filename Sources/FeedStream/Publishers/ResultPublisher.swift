extension Result {
  /// A publisher of this value, or of this failure.
  @inlinable public var publisher: Publisher { Publisher(self) }

  /// Delivers the value and finishes, or fails.
  ///
  ///     Result.success(1).publisher    1|
  ///     Result.failure(e).publisher    #
  ///
  /// **Demand:** the value waits for the first request; a failure waits for nothing. **Failure:** the result's.
  /// **Cancellation:** at once. **Policy:** forwards.
  @frozen public struct Publisher: ConstantPublisher {
    public typealias Output = Success

    /// What it delivers.
    public let result: Result<Success, Failure>

    @inlinable public init(_ result: Result<Success, Failure>) { self.result = result }
    @inlinable public init(_ output: Success) { result = .success(output) }
    @inlinable public init(_ failure: Failure) { result = .failure(failure) }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Success, S.Failure == Failure {
      switch result {
      case .success(let output): subscriber.attach("Once", delivering: output)
      case .failure(let error): subscriber.attach(ending: .failure(error))
      }
    }

    @inlinable public func deliverAll(to deliver: (Output) -> Bool) -> Bool {
      guard case .success(let output) = result else { return false }
      _ = deliver(output)
      return true
    }
  }

  /// OpenCombine's name for what Combine puts into `Result` itself.
  public enum OCombine {
    public typealias Publisher = Result<Success, Failure>.Publisher
  }
}

extension Result.Publisher: Equatable where Success: Equatable, Failure: Equatable {}

// MARK: - Operators, applied at once

extension Result.Publisher {
  @inlinable public var constant: Result<Success?, Failure> { result.map { $0 } }

  /// As `map(_:)` of any publisher, applied at once.
  @inlinable public func map<T>(_ transform: (Success) -> T) -> Result<T, Failure>.Publisher {
    Result<T, Failure>.Publisher(result.map(transform))
  }

  /// As `collect()` of any publisher, applied at once.
  @inlinable public func collect() -> Result<[Success], Failure>.Publisher { map { [$0] } }

  /// As `count()` of any publisher, applied at once.
  @inlinable public func count() -> Result<Int, Failure>.Publisher { map { _ in 1 } }

  /// As `allSatisfy(_:)` of any publisher, applied at once.
  @inlinable
  public func allSatisfy(_ predicate: (Success) -> Bool) -> Result<Bool, Failure>.Publisher { map(predicate) }

  /// As `contains(where:)` of any publisher, applied at once.
  @inlinable
  public func contains(where predicate: (Success) -> Bool) -> Result<Bool, Failure>.Publisher { map(predicate) }

  /// As `contains(_:)` of any publisher, applied at once.
  @inlinable public func contains(_ output: Success) -> Result<Bool, Failure>.Publisher where Success: Equatable {
    map { $0 == output }
  }

  /// As `reduce(_:_:)` of any publisher, applied at once.
  @inlinable
  public func reduce<T>(_ initialResult: T, _ nextPartialResult: (T, Success) -> T) -> Result<T, Failure>.Publisher {
    map { nextPartialResult(initialResult, $0) }
  }

  /// As `scan(_:_:)` of any publisher, applied at once.
  @inlinable
  public func scan<T>(_ initialResult: T, _ nextPartialResult: (T, Success) -> T) -> Result<T, Failure>.Publisher {
    map { nextPartialResult(initialResult, $0) }
  }

  /// As `replaceEmpty(with:)` of any publisher, applied at once.
  @inlinable public func replaceEmpty(with output: Success) -> Self { self }

  /// As `replaceError(with:)` of any publisher, applied at once.
  @inlinable public func replaceError(with output: Success) -> Result<Success, Never>.Publisher {
    Result<Success, Never>.Publisher(result.getOr(output))
  }

  /// As `mapError(_:)` of any publisher, applied at once.
  @inlinable public func mapError<E: Error>(_ transform: (Failure) -> E) -> Result<Success, E>.Publisher {
    Result<Success, E>.Publisher(result.mapError(transform))
  }

  /// As `setFailureType(to:)` of any publisher, applied at once.
  @inlinable
  public func setFailureType<E: Error>(to failureType: E.Type) -> Result<Success, E>.Publisher where Failure == Never {
    Result<Success, E>.Publisher(result.get())
  }
}

// As in Combine, the `try` forms of what compares two values call their closure with the one value twice, so that what it
// throws is known.
extension Result.Publisher {
  /// As `tryMap(_:)` of any publisher, applied at once.
  @inlinable public func tryMap<T>(_ transform: (Success) throws -> T) -> Result<T, any Error>.Publisher {
    Result<T, any Error>.Publisher(Result<T, any Error> { try transform(result.get()) })
  }

  /// As `tryAllSatisfy(_:)` of any publisher, applied at once.
  @inlinable public func tryAllSatisfy(_ predicate: (Success) throws -> Bool) -> Result<Bool, any Error>.Publisher {
    tryMap(predicate)
  }

  /// As `tryContains(where:)` of any publisher, applied at once.
  @inlinable public func tryContains(where predicate: (Success) throws -> Bool) -> Result<Bool, any Error>.Publisher {
    tryMap(predicate)
  }

  /// As `tryReduce(_:_:)` of any publisher, applied at once.
  @inlinable public func tryReduce<T>(
    _ initialResult: T, _ nextPartialResult: (T, Success) throws -> T
  ) -> Result<T, any Error>.Publisher {
    tryMap { try nextPartialResult(initialResult, $0) }
  }

  /// As `tryScan(_:_:)` of any publisher, applied at once.
  @inlinable public func tryScan<T>(
    _ initialResult: T, _ nextPartialResult: (T, Success) throws -> T
  ) -> Result<T, any Error>.Publisher {
    tryMap { try nextPartialResult(initialResult, $0) }
  }
  @inlinable func tryComparing(_ compare: (Success, Success) throws -> Bool) -> Result<Success, any Error>.Publisher {
    tryMap {
      _ = try compare($0, $0)
      return $0
    }
  }

  /// As `tryRemoveDuplicates(by:)` of any publisher, applied at once; as in Combine, to the value and itself.
  @inlinable public func tryRemoveDuplicates(
    by predicate: (Success, Success) throws -> Bool
  ) -> Result<Success, any Error>.Publisher {
    tryComparing(predicate)
  }

  /// As `tryMin(by:)` of any publisher, applied at once; as in Combine, to the value and itself.
  @inlinable public func tryMin(
    by areInIncreasingOrder: (Success, Success) throws -> Bool
  ) -> Result<Success, any Error>.Publisher {
    tryComparing(areInIncreasingOrder)
  }

  /// As `tryMax(by:)` of any publisher, applied at once; as in Combine, to the value and itself.
  @inlinable public func tryMax(
    by areInIncreasingOrder: (Success, Success) throws -> Bool
  ) -> Result<Success, any Error>.Publisher {
    tryComparing(areInIncreasingOrder)
  }
}

extension Result {
  @inlinable func getOr(_ replacement: Success) -> Success {
    switch self {
    case .success(let success): success
    case .failure: replacement
    }
  }
}
