extension Publisher {
  /// Delivers every intermediate result of combining the values, the first one combined with `initialResult`.
  ///
  ///     upstream    --1--2--3--|
  ///     scan(0, +)
  ///     downstream  --1--3--6--|
  ///
  /// **Demand, failure, cancellation:** pass through.
  @inlinable
  public func scan<T>(
    _ initialResult: T, _ nextPartialResult: @escaping (T, Output) -> T
  ) -> Publishers.Scan<Self, T> {
    Publishers.Scan(upstream: self, initialResult: initialResult, nextPartialResult: nextPartialResult)
  }

  /// Delivers every intermediate result of combining the values, and fails with the first error that combining throws.
  ///
  /// **Demand:** passes through. **Failure:** an error thrown cancels upstream.
  @inlinable
  public func tryScan<T>(
    _ initialResult: T, _ nextPartialResult: @escaping (T, Output) throws -> T
  ) -> Publishers.TryScan<Self, T> {
    Publishers.TryScan(upstream: self, initialResult: initialResult, nextPartialResult: nextPartialResult)
  }
}

extension Publishers {
  /// See ``Publisher/scan(_:_:)``.
  @frozen
  public struct Scan<Upstream: Publisher, Output>: Publisher {
    public typealias Failure = Upstream.Failure

    public let upstream: Upstream
    public let initialResult: Output
    public let nextPartialResult: (Output, Upstream.Output) -> Output

    @inlinable
    public init(
      upstream: Upstream, initialResult: Output, nextPartialResult: @escaping (Output, Upstream.Output) -> Output
    ) {
      self.upstream = upstream
      self.initialResult = initialResult
      self.nextPartialResult = nextPartialResult
    }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: ScanStage<Upstream.Output, Failure, Never, Output, Failure>(
          Downstream(subscriber), .passing, initialResult, nextPartialResult))
    }
  }

  /// See ``Publisher/tryScan(_:_:)``.
  @frozen
  public struct TryScan<Upstream: Publisher, Output>: Publisher {
    public typealias Failure = any Error

    public let upstream: Upstream
    public let initialResult: Output
    public let nextPartialResult: (Output, Upstream.Output) throws -> Output

    @inlinable
    public init(
      upstream: Upstream, initialResult: Output,
      nextPartialResult: @escaping (Output, Upstream.Output) throws -> Output
    ) {
      self.upstream = upstream
      self.initialResult = initialResult
      self.nextPartialResult = nextPartialResult
    }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: ScanStage<Upstream.Output, Upstream.Failure, any Error, Output, any Error>(
          Downstream(subscriber), .throwing, initialResult, nextPartialResult))
    }
  }
}

@usableFromInline
final class ScanStage<Input, Failure: Error, RuleError: Error, Output, OutputFailure: Error>:
  RuleStage<Input, Failure, RuleError, Output, OutputFailure>, Subscriber
{
  @exclusivity(unchecked)
  @usableFromInline
  var result: Output
  @usableFromInline
  let combine: (Output, Input) throws(RuleError) -> Output

  @inlinable
  init(
    _ down: Downstream<Output, OutputFailure>, _ endings: Endings<Failure, RuleError, OutputFailure>, _ result: Output,
    _ combine: @escaping (Output, Input) throws(RuleError) -> Output
  ) {
    self.result = result
    self.combine = combine
    super.init(down, endings)
  }

  @inlinable
  func receive(_ input: Input) -> Subscribers.Demand {
    guard isLive else { return .none }
    do throws(RuleError) {
      result = try combine(result, input)
    } catch {
      return fail(error)
    }
    return down.next(result)
  }
}
