/// The order in which an asynchronous operator delivers its results.
public enum AsyncOrder: Hashable, Sendable {
  /// The order of the values that the results belong to.
  case preserved
  /// The order in which the results become ready.
  case asCompleted
}

extension Publisher where Output: Sendable {
  /// Runs `transform` in a task for each value, several at a time, and delivers the results.
  ///
  ///     upstream    --1--2--3-----|
  ///     mapAsync(limit: 2)
  ///     downstream  -----1---2--3-|
  ///
  /// If you subscribe on an ``EventLoop``, or on a thread whose loop isn't running yet, the results are delivered
  /// there, and the loop keeps running while a task runs, unless ``Publisher/keepsLoopAlive(_:)`` says otherwise.
  /// Without a loop, they are delivered one at a time, on the threads on which the tasks end.
  ///
  /// **Demand:** `limit` values are requested from upstream, and one more for each result delivered. **Failure:**
  /// passes through after the results of the earlier values. **Cancellation:** cancels the tasks. **Policy:** a result
  /// waits until it is requested and, with `.preserved` order, until the earlier results have been delivered; at most
  /// `limit` results wait. A result for a closed loop is dropped and reported to ``StreamDiagnostics/onDrop(_:)``.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of values to process at the same time; more than zero.
  ///   - order: `.preserved` keeps the values' order; `.asCompleted` delivers results as they become ready.
  ///   - transform: runs in a separate task for each value.
  @inlinable public func mapAsync<T>(
    limit: Int, order: AsyncOrder = .preserved, _ transform: @escaping @Sendable (Output) async -> sending T
  ) -> Publishers.MapAsync<Self, T, Publishers.NonThrowing<Failure>> {
    Publishers.MapAsync(self, limit, order, transform)
  }

  /// Runs `transform` in a task for each value, several at a time, delivers the results, and fails with the first error
  /// that `transform` throws.
  ///
  ///     upstream    --1--2--3-----|
  ///     tryMapAsync(limit: 2)   (throws on 2)
  ///     downstream  -----1---#
  ///
  /// **Demand, cancellation, policy:** as in ``Publisher/mapAsync(limit:order:_:)``. **Failure:** a thrown error keeps
  /// its place in the order, and cancels upstream and the other tasks; finished results after it are dropped and
  /// reported. Upstream's own failure passes through after the results of the earlier values.
  @inlinable public func tryMapAsync<T>(
    limit: Int, order: AsyncOrder = .preserved, _ transform: @escaping @Sendable (Output) async throws -> sending T
  ) -> Publishers.MapAsync<Self, T, Publishers.Throwing<Failure>> {
    Publishers.MapAsync(self, limit, order, transform)
  }

  /// Runs the function `transform` in a task for each value, several at a time, and delivers the results.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/mapAsync(limit:order:_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload
  @inlinable public func mapAsync<T: Sendable>(
    limit: Int, order: AsyncOrder = .preserved, _ transform: @escaping @Sendable (Output) async -> T
  ) -> Publishers.MapAsync<Self, T, Publishers.NonThrowing<Failure>> {
    // For functions by name, which the compiler doesn't convert to functions with a `sending` result.
    mapAsync(limit: limit, order: order) { await transform($0) }
  }

  /// Runs the function `transform` in a task for each value, several at a time, delivers the results, and fails with
  /// the first error that `transform` throws.
  ///
  ///     upstream    --1--2--3-----|
  ///     tryMapAsync(limit: 2)   (throws on 2)
  ///     downstream  -----1---#
  ///
  /// **Demand, cancellation, policy:** as in ``Publisher/mapAsync(limit:order:_:)``. **Failure:** a thrown error keeps
  /// its place in the order, and cancels upstream and the other tasks.
  @_documentation(visibility: internal) @_disfavoredOverload
  @inlinable public func tryMapAsync<T: Sendable>(
    limit: Int, order: AsyncOrder = .preserved, _ transform: @escaping @Sendable (Output) async throws -> T
  ) -> Publishers.MapAsync<Self, T, Publishers.Throwing<Failure>> {
    tryMapAsync(limit: limit, order: order) { try await transform($0) }
  }
}

extension Publishers {
  /// See ``Publisher/mapAsync(limit:order:_:)``.
  public struct MapAsync<Upstream: Publisher, Output, Mode: FailureMode>: Publisher, _DeliversAtHome
  where Upstream.Output: Sendable, Mode.UpstreamFailure == Upstream.Failure {
    public typealias Failure = Mode.Failure

    @usableFromInline let upstream: Upstream
    @usableFromInline let limit: Int
    @usableFromInline let order: AsyncOrder
    @usableFromInline let transform: @Sendable (Upstream.Output) async throws(Mode.RuleError) -> sending Output

    @inlinable init(
      _ upstream: Upstream, _ limit: Int, _ order: AsyncOrder,
      _ transform: @escaping @Sendable (Upstream.Output) async throws(Mode.RuleError) -> sending Output
    ) {
      precondition(limit > 0, "mapAsync(limit: \(limit)): no task could ever run; use 1 or more")
      self.upstream = upstream
      self.limit = limit
      self.order = order
      self.transform = transform
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        bringingTo: MapAsyncStage<Upstream.Output, Output, Mode>(ErasedSubscriber(subscriber), limit, order, transform))
    }
  }
}
