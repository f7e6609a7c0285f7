extension Publisher where Output: Sendable {
  /// Runs `transform` for each value, concurrently on the loops of `group`, and delivers the results.
  ///
  ///     upstream    --1-2-3-4-----|
  ///     parallelMap(on: group)
  ///     downstream  ----1-2-3-4---|
  ///
  /// While the loops keep up, values are sent to them one at a time. Otherwise, values are sent in batches of 100 µs to
  /// 1 ms of work, as estimated from the time that `transform` has taken so far. The more values wait, the larger the
  /// batches. Results are delivered where the stream lives. Its loop keeps running while results are being computed,
  /// unless ``Publisher/keepsLoopAlive(_:)`` says otherwise.
  ///
  /// **Demand:** `limit` values are requested from upstream, and more as results are delivered. **Failure:** passes
  /// through after the results of the earlier values. **Cancellation:** computations that have not begun are dropped;
  /// the results of running ones are discarded. **Policy:** holds at most `limit` values and results. A result waits
  /// until it is requested and, with `.preserved` ordering, until the earlier results have been delivered. Values for a
  /// closed loop are dropped and reported to ``StreamDiagnostics/onDrop(_:)``. When all loops are closed, upstream is
  /// cancelled, and the stream finishes after the remaining results.
  ///
  /// - Parameters:
  ///   - group: the loops that compute the results.
  ///   - width: the number of loops to use; `nil` means all.
  ///   - limit: the maximum number of values and results to hold; 1,024 per loop by default.
  ///   - ordering: `.preserved` keeps the values' order; `.asCompleted` delivers results as they become ready.
  ///   - transform: runs on a loop of the group. If the result isn't `Sendable`, that loop must not use it afterwards.
  @inlinable public func parallelMap<T>(
    on group: EventLoopGroup, width: Int? = nil, limit: Int? = nil, ordering: AsyncOrder = .preserved,
    _ transform: @escaping @Sendable (Output) -> T
  ) -> Publishers.ParallelMap<Self, T, Publishers.NonThrowing<Failure>> {
    // With `T: Sendable`, a closure of several statements above `sink { print($0) }` doesn't compile. `T` needs no
    // constraint: the closure's captures and argument are `Sendable`, so nothing else refers to the result, unless the
    // closure gives it to its own loop (`EventLoop.current`), which no constraint of ours can prevent.
    Publishers.ParallelMap(self, group, width, limit, ordering, transform)
  }

  /// Runs `transform` for each value, concurrently on the loops of `group`, delivers the results, and fails with the
  /// first error that `transform` throws.
  ///
  ///     upstream    --1-2-3-4-----|
  ///     tryParallelMap(on: group)   (throws on 3)
  ///     downstream  ----1-2-#
  ///
  /// **Demand, cancellation, policy:** as in ``Publisher/parallelMap(on:width:limit:ordering:_:)``. **Failure:** a
  /// thrown error keeps its place in the order and cancels upstream; finished results after it are dropped and
  /// reported. Upstream's own failure passes through after the results of the earlier values.
  @inlinable public func tryParallelMap<T>(
    on group: EventLoopGroup, width: Int? = nil, limit: Int? = nil, ordering: AsyncOrder = .preserved,
    _ transform: @escaping @Sendable (Output) throws -> T
  ) -> Publishers.ParallelMap<Self, T, Publishers.Throwing<Failure>> {
    Publishers.ParallelMap(self, group, width, limit, ordering, transform)
  }

  /// Runs `transform` for each value in a task on a loop of `group`, and delivers the results.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/mapAsync(limit:order:_:)``.
  ///
  /// - Parameters:
  ///   - group: the loops that run the tasks, each task on the next loop in turn.
  ///   - width: the number of values to process at the same time; `nil` means as many as there are loops.
  ///   - ordering: `.preserved` keeps the values' order; `.asCompleted` delivers results as they become ready.
  ///   - transform: runs in a separate task for each value, on a loop of the group, except while it awaits code with an
  ///     executor of its own.
  public func parallelMap<T>(
    on group: EventLoopGroup, width: Int? = nil, ordering: AsyncOrder = .preserved,
    _ transform: @escaping @Sendable (Output) async -> sending T
  ) -> Publishers.MapAsync<Self, T, Publishers.NonThrowing<Failure>> {
    mapAsync(limit: group.mapWidth(width), order: ordering) { value in
      await withTaskExecutorPreference(group.nextExecutor) { await transform(value) }
    }
  }

  /// Runs `transform` for each value in a task on a loop of `group`, delivers the results, and fails with the first
  /// error that `transform` throws.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/tryMapAsync(limit:order:_:)``.
  ///
  /// - Parameters:
  ///   - group: the loops that run the tasks, each task on the next loop in turn.
  ///   - width: the number of values to process at the same time; `nil` means as many as there are loops.
  ///   - ordering: `.preserved` keeps the values' order; `.asCompleted` delivers results as they become ready.
  ///   - transform: runs in a separate task for each value.
  public func tryParallelMap<T>(
    on group: EventLoopGroup, width: Int? = nil, ordering: AsyncOrder = .preserved,
    _ transform: @escaping @Sendable (Output) async throws -> sending T
  ) -> Publishers.MapAsync<Self, T, Publishers.Throwing<Failure>> {
    tryMapAsync(limit: group.mapWidth(width), order: ordering) { value in
      try await withTaskExecutorPreference(group.nextExecutor) { try await transform(value) }
    }
  }

  /// Runs the function `transform` for each value in a task on a loop of `group`, and delivers the results.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/mapAsync(limit:order:_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload
  public func parallelMap<T: Sendable>(
    on group: EventLoopGroup, width: Int? = nil, ordering: AsyncOrder = .preserved,
    _ transform: @escaping @Sendable (Output) async -> T
  ) -> Publishers.MapAsync<Self, T, Publishers.NonThrowing<Failure>> {
    // For functions by name, which the compiler doesn't convert to functions with a `sending` result.
    parallelMap(on: group, width: width, ordering: ordering) { await transform($0) }
  }

  /// Runs the function `transform` for each value in a task on a loop of `group`, delivers the results, and fails with
  /// the first error that `transform` throws.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/tryMapAsync(limit:order:_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload
  public func tryParallelMap<T: Sendable>(
    on group: EventLoopGroup, width: Int? = nil, ordering: AsyncOrder = .preserved,
    _ transform: @escaping @Sendable (Output) async throws -> T
  ) -> Publishers.MapAsync<Self, T, Publishers.Throwing<Failure>> {
    tryParallelMap(on: group, width: width, ordering: ordering) { try await transform($0) }
  }

  @available(*, unavailable, message: "for code that throws, use tryParallelMap")
  @_documentation(visibility: internal) @_disfavoredOverload
  public func parallelMap<T>(
    on group: EventLoopGroup, width: Int? = nil, limit: Int? = nil, ordering: AsyncOrder = .preserved,
    _ transform: @escaping @Sendable (Output) async throws -> T
  ) -> Publishers.Map<Self, T> { fatalError("unavailable") }
}

extension EventLoopGroup {
  /// The `width` of a `parallelMap`; without one, the number of loops.
  @usableFromInline func mapWidth(_ width: Int?) -> Int {
    precondition((width ?? 1) > 0, "parallelMap(width: \(width ?? 0)): nothing would ever be computed; use 1 or more")
    return width ?? count
  }
}

extension Publishers {
  /// See ``Publisher/parallelMap(on:width:limit:ordering:_:)``.
  public struct ParallelMap<Upstream: Publisher, Output, Mode: FailureMode>: Publisher, _DeliversAtHome
  where Upstream.Output: Sendable, Mode.UpstreamFailure == Upstream.Failure {
    public typealias Failure = Mode.Failure

    @usableFromInline let upstream: Upstream
    @usableFromInline let group: EventLoopGroup
    @usableFromInline let width: Int?
    @usableFromInline let limit: Int
    @usableFromInline let ordering: AsyncOrder
    @usableFromInline let transform: @Sendable (Upstream.Output) throws(Mode.RuleError) -> Output

    @inlinable init(
      _ upstream: Upstream, _ group: EventLoopGroup, _ width: Int?, _ limit: Int?, _ ordering: AsyncOrder,
      _ transform: @escaping @Sendable (Upstream.Output) throws(Mode.RuleError) -> Output
    ) {
      let count = Swift.min(group.mapWidth(width), group.count)
      precondition((limit ?? 1) > 0, "parallelMap(limit: \(limit ?? 0)): nothing would ever be computed; use 1 or more")
      self.upstream = upstream
      self.group = group
      self.width = width
      self.limit = limit ?? 1024 * count
      self.ordering = ordering
      self.transform = transform
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        bringingTo: ParallelMapStage<Upstream.Output, Output, Mode>(
          ErasedSubscriber(subscriber), ParallelCrew(of: group, width), limit, ordering, transform))
    }
  }
}
