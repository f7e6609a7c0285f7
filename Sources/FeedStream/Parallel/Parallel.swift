extension Publisher where Output: Sendable {
  /// Distributes the values among the loops of `group`, each with its own pipeline, and delivers the pipelines' values.
  ///
  ///     let sizes = images.parallel(on: group) { rail in
  ///       rail.compactMap { try? decode($0) }.filter { $0.isLarge }.map { $0.size }
  ///     }
  ///
  /// `pipeline` runs once on each loop; its operators and closures live there. Each value goes to the pipeline that has
  /// the least work among those with demand, so a slow pipeline does not delay the others. Results are delivered where
  /// the stream lives, in order of arrival; the results of one loop keep their order.
  ///
  /// **Demand:** `limit` values are requested from upstream, and more as values are sent to the loops; a pipeline
  /// receives only as many values as it requests. **Failure:** upstream's passes through each pipeline after its
  /// values; the first failure that a pipeline delivers ends the stream and cancels the rest. If a loop is closed
  /// before its pipeline has passed on upstream's failure, the stream fails with it at the end. **Completion:** when
  /// all pipelines have completed. A pipeline that completes before upstream receives no more values; when all have
  /// completed or their loops are closed, upstream is cancelled. **Cancellation:** cancels upstream and all pipelines.
  /// **Policy:** holds at most `limit` values, and as many results, but at least one result per loop; a result waits
  /// for demand. Values for a closed loop, and those that are left when pipelines complete early, are dropped and
  /// reported to ``StreamDiagnostics/onDrop(_:)``.
  ///
  /// - Parameters:
  ///   - group: the loops that run the pipelines.
  ///   - width: the number of loops to use; `nil` means all.
  ///   - limit: the maximum number of values to hold; 256 per loop by default.
  ///   - pipeline: makes a loop's pipeline from the publisher of that loop's values. A pipeline may subscribe to that
  ///     publisher only once, so write `retry` and `repeat` below `parallel`, or in a `flatMap` in the pipeline.
  @inlinable public func parallel<P: Publisher>(
    on group: EventLoopGroup, width: Int? = nil, limit: Int? = nil,
    _ pipeline: @escaping @Sendable (Publishers.Rail<Output, Failure>) -> P
  ) -> Publishers.Parallel<Self, P> where P.Output: Sendable, P.Failure == Failure {
    Publishers.Parallel(self, group, width, limit, pipeline)
  }
}

extension Publishers {
  /// The values that go to one loop of ``Publisher/parallel(on:width:limit:_:)``; the pipeline is the only subscriber.
  public struct Rail<Output: Sendable, Failure: Error>: Publisher, _DeliversAtHome {
    @usableFromInline let inlet: RailInlet<Output, Failure>

    @inlinable init(_ inlet: RailInlet<Output, Failure>) { self.inlet = inlet }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      inlet.attach(ErasedSubscriber(subscriber))
    }
  }

  /// See ``Publisher/parallel(on:width:limit:_:)``.
  public struct Parallel<Upstream: Publisher, Pipeline: Publisher>: Publisher, _DeliversAtHome
  where Upstream.Output: Sendable, Pipeline.Output: Sendable, Pipeline.Failure == Upstream.Failure {
    public typealias Output = Pipeline.Output
    public typealias Failure = Upstream.Failure

    @usableFromInline let upstream: Upstream
    @usableFromInline let group: EventLoopGroup
    @usableFromInline let width: Int?
    @usableFromInline let limit: Int
    @usableFromInline let pipeline: @Sendable (Rail<Upstream.Output, Failure>) -> Pipeline

    @inlinable init(
      _ upstream: Upstream, _ group: EventLoopGroup, _ width: Int?, _ limit: Int?,
      _ pipeline: @escaping @Sendable (Rail<Upstream.Output, Failure>) -> Pipeline
    ) {
      precondition((width ?? 1) > 0, "parallel(width: \(width ?? 0)): nothing would ever be done; use 1 or more")
      precondition((limit ?? 1) > 0, "parallel(limit: \(limit ?? 0)): nothing would ever be done; use 1 or more")
      self.upstream = upstream
      self.group = group
      self.width = width
      self.limit = limit ?? 256 * Swift.min(width ?? group.count, group.count)
      self.pipeline = pipeline
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let pipeline = self.pipeline
      upstream.receive(
        bringingTo: ParallelStage<Upstream.Output, Output, Failure>(
          ErasedSubscriber(subscriber), ParallelCrew(of: group, width), limit
        ) { inlet, outlet in
          pipeline(Rail(inlet)).receive(subscriber: outlet)
        })
    }
  }
}
