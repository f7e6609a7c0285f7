extension Result {
  /// A publisher that delivers this value, or fails with this error.
  @inlinable public var publisher: Publisher { Publisher(self) }

  /// Delivers the value and finishes, or fails.
  ///
  ///     Result.success(1).publisher    1|
  ///     Result.failure(e).publisher    #
  ///
  /// **Demand:** the value waits for the first request; a failure needs none. **Failure:** the result's failure.
  /// **Cancellation:** immediate. **Policy:** forwards.
  @frozen public struct Publisher: ConstantPublisher, _DeliversAtHome {
    public typealias Output = Success

    /// The result that this publisher delivers.
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

    @inlinable public func _deliverAll(to deliver: (Output) -> Bool) -> Bool {
      guard case .success(let output) = result else { return false }
      _ = deliver(output)
      return true
    }
  }

  /// OpenCombine's name for Combine's extension of `Result`.
  public enum OCombine {
    public typealias Publisher = Result<Success, Failure>.Publisher
  }
}

extension Result.Publisher: Equatable where Success: Equatable, Failure: Equatable {}

// MARK: - Operators, applied immediately

extension Result.Publisher {
  @inlinable public var constant: Result<Success?, Failure> { result.map { $0 } }

  /// Like `map(_:)` on other publishers, but applied immediately.
  @inlinable public func map<T>(_ transform: (Success) -> T) -> Result<T, Failure>.Publisher {
    Result<T, Failure>.Publisher(result.map(transform))
  }

  /// Like `collect()` on other publishers, but applied immediately.
  @inlinable public func collect() -> Result<[Success], Failure>.Publisher { map { [$0] } }

  /// Like `count()` on other publishers, but applied immediately.
  @inlinable public func count() -> Result<Int, Failure>.Publisher { map { _ in 1 } }

  /// Like `allSatisfy(_:)` on other publishers, but applied immediately.
  @inlinable
  public func allSatisfy(_ predicate: (Success) -> Bool) -> Result<Bool, Failure>.Publisher { map(predicate) }

  /// Like `contains(where:)` on other publishers, but applied immediately.
  @inlinable
  public func contains(where predicate: (Success) -> Bool) -> Result<Bool, Failure>.Publisher { map(predicate) }

  /// Like `contains(_:)` on other publishers, but applied immediately.
  @inlinable public func contains(_ output: Success) -> Result<Bool, Failure>.Publisher where Success: Equatable {
    map { $0 == output }
  }

  /// Like `reduce(_:_:)` on other publishers, but applied immediately.
  @inlinable
  public func reduce<T>(_ initialResult: T, _ nextPartialResult: (T, Success) -> T) -> Result<T, Failure>.Publisher {
    map { nextPartialResult(initialResult, $0) }
  }

  /// Like `scan(_:_:)` on other publishers, but applied immediately.
  @inlinable
  public func scan<T>(_ initialResult: T, _ nextPartialResult: (T, Success) -> T) -> Result<T, Failure>.Publisher {
    map { nextPartialResult(initialResult, $0) }
  }

  /// Like `replaceEmpty(with:)` on other publishers, but applied immediately.
  @inlinable public func replaceEmpty(with output: Success) -> Self { self }

  /// Like `replaceError(with:)` on other publishers, but applied immediately.
  @inlinable public func replaceError(with output: Success) -> Result<Success, Never>.Publisher {
    Result<Success, Never>.Publisher(result.getOr(output))
  }

  /// Like `mapError(_:)` on other publishers, but applied immediately.
  @inlinable public func mapError<E: Error>(_ transform: (Failure) -> E) -> Result<Success, E>.Publisher {
    Result<Success, E>.Publisher(result.mapError(transform))
  }

  /// Like `setFailureType(to:)` on other publishers, but applied immediately.
  @inlinable
  public func setFailureType<E: Error>(to failureType: E.Type) -> Result<Success, E>.Publisher where Failure == Never {
    Result<Success, E>.Publisher(result.get())
  }
}

// As in Combine, the `try` forms of operators that compare two values pass the only value to their closure twice, so
// that an error thrown by the closure is delivered.
extension Result.Publisher {
  /// Like `tryMap(_:)` on other publishers, but applied immediately.
  @inlinable public func tryMap<T>(_ transform: (Success) throws -> T) -> Result<T, any Error>.Publisher {
    Result<T, any Error>.Publisher(Result<T, any Error> { try transform(result.get()) })
  }

  /// Like `tryAllSatisfy(_:)` on other publishers, but applied immediately.
  @inlinable public func tryAllSatisfy(_ predicate: (Success) throws -> Bool) -> Result<Bool, any Error>.Publisher {
    tryMap(predicate)
  }

  /// Like `tryContains(where:)` on other publishers, but applied immediately.
  @inlinable public func tryContains(where predicate: (Success) throws -> Bool) -> Result<Bool, any Error>.Publisher {
    tryMap(predicate)
  }

  /// Like `tryReduce(_:_:)` on other publishers, but applied immediately.
  @inlinable public func tryReduce<T>(
    _ initialResult: T, _ nextPartialResult: (T, Success) throws -> T
  ) -> Result<T, any Error>.Publisher {
    tryMap { try nextPartialResult(initialResult, $0) }
  }

  /// Like `tryScan(_:_:)` on other publishers, but applied immediately.
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

  /// Like `tryRemoveDuplicates(by:)` on other publishers, but applied immediately; as in Combine, it compares the value
  /// with itself.
  @inlinable public func tryRemoveDuplicates(
    by predicate: (Success, Success) throws -> Bool
  ) -> Result<Success, any Error>.Publisher {
    tryComparing(predicate)
  }

  /// Like `tryMin(by:)` on other publishers, but applied immediately; as in Combine, it compares the value with itself.
  @inlinable public func tryMin(
    by areInIncreasingOrder: (Success, Success) throws -> Bool
  ) -> Result<Success, any Error>.Publisher {
    tryComparing(areInIncreasingOrder)
  }

  /// Like `tryMax(by:)` on other publishers, but applied immediately; as in Combine, it compares the value with itself.
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
