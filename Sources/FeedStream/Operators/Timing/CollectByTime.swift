extension Publisher {
  /// Delivers in one array what arrived in a stretch of time, or sooner when there is enough of it.
  ///
  ///     upstream    -a-b-c---------d-|
  ///     collect(.byTime(scheduler, 4))
  ///     downstream  ----[a,b]---[c]------[d]|
  ///
  /// The stretches follow one another from the subscription on; one without values makes no array.
  ///
  /// **Policy:** keeps what arrived until it is asked for, then delivers it at once; unbounded with `.byTime`.
  /// **Demand:** `.byTime` asks upstream for everything; `.byTimeOrCount` for a full array's count for each array asked
  /// for. **Failure:** passes through at once; what was collected is dropped. When upstream finishes, what was collected is
  /// delivered first. **Cancellation:** at once.
  ///
  /// - Parameters:
  ///   - strategy: the scheduler, the length of a stretch in its time, and how many values are enough.
  ///   - options: the scheduler's own.
  /// - Precondition: the stretch is longer than zero, the count more than zero.
  @inlinable
  public func collect<S: Scheduler>(
    _ strategy: Publishers.TimeGroupingStrategy<S>, options: S.SchedulerOptions? = nil
  ) -> Publishers.CollectByTime<Self, S> {
    Publishers.CollectByTime(upstream: self, strategy: strategy, options: options)
  }

  /// Delivers in one array what arrived in `interval`: ``collect(_:options:)`` by time, in ReactiveX's words.
  @inlinable
  public func buffer<S: Scheduler>(
    for interval: S.SchedulerTimeType.Stride, scheduler: S, options: S.SchedulerOptions? = nil
  ) -> Publishers.CollectByTime<Self, S> {
    collect(.byTime(scheduler, interval), options: options)
  }
}

extension Publishers {
  /// How ``Publisher/collect(_:options:)`` groups values.
  public enum TimeGroupingStrategy<Context: Scheduler> {
    /// What arrives in a stretch of time.
    case byTime(Context, Context.SchedulerTimeType.Stride)
    /// What arrives in a stretch of time, and sooner as soon as there are so many.
    case byTimeOrCount(Context, Context.SchedulerTimeType.Stride, Int)
  }

  /// See ``Publisher/collect(_:options:)``.
  public struct CollectByTime<Upstream: Publisher, Context: Scheduler>: Publisher {
    public typealias Output = [Upstream.Output]
    public typealias Failure = Upstream.Failure

    public let upstream: Upstream
    public let strategy: TimeGroupingStrategy<Context>
    public let options: Context.SchedulerOptions?

    public init(upstream: Upstream, strategy: TimeGroupingStrategy<Context>, options: Context.SchedulerOptions?) {
      switch strategy {
      case .byTime(_, let interval): Ticker<Context>.check(interval, "collect(.byTime)")
      case .byTimeOrCount(_, let interval, let count):
        Ticker<Context>.check(interval, "collect(.byTimeOrCount)")
        precondition(count > 0, "collect(.byTimeOrCount): an array of \(count) values never fills; use 1 or more")
      }
      self.upstream = upstream
      self.strategy = strategy
      self.options = options
    }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let down = Downstream(subscriber)
      switch strategy {
      case .byTime(let scheduler, let interval):
        upstream.receive(
          subscriber: CollectByTimeStage<Upstream.Output, Failure, Context>(
            down, interval, scheduler, options, count: nil))
      case .byTimeOrCount(let scheduler, let interval, let count):
        upstream.receive(
          subscriber: CollectByTimeStage<Upstream.Output, Failure, Context>(
            down, interval, scheduler, options, count: count))
      }
    }
  }
}

@usableFromInline
final class CollectByTimeStage<Input, Failure: Error, Context: Scheduler>: Stage<[Input], Failure>, Subscriber {
  private let interval: Context.SchedulerTimeType.Stride
  private let ticker: Ticker<Context>
  private let count: Int?
  @exclusivity(unchecked)
  private var collected: [Input] = []
  @exclusivity(unchecked)
  private var demand = Subscribers.Demand.none
  /// Whether a stretch has ended and what was collected in it has not been delivered.
  @exclusivity(unchecked)
  private var isDue = false
  /// Whether upstream has finished: what is left is due, and the ending after it.
  @exclusivity(unchecked)
  private var isFinished = false
  @exclusivity(unchecked)
  private var isDelivering = false

  @usableFromInline
  init(
    _ down: Downstream<[Input], Failure>, _ interval: Context.SchedulerTimeType.Stride, _ scheduler: Context,
    _ options: Context.SchedulerOptions?, count: Int?
  ) {
    self.interval = interval
    self.count = count
    ticker = Ticker(interval, nil, scheduler, options)
    super.init(down)
  }

  @usableFromInline
  override func began() {
    ticker.start(after: interval) { [self] _ in
      isDue = true
      request(upstream: deliver())
    }
    super.began()
    if count == nil { up?.request(.unlimited) }
  }

  @usableFromInline
  func receive(_ input: Input) -> Subscribers.Demand {
    guard isLive, !isFinished else { return .none }
    collected.append(input)
    return collected.count == count ? upstreamDemand(for: deliver()) : .none
  }

  @usableFromInline
  func receive(completion: Subscribers.Completion<Failure>) {
    guard isLive, !isFinished else { return }
    ticker.stop()
    guard case .finished = completion else {
      for input in collected { StreamDiagnostics.dropped(input, "CollectByTime", .terminated) }
      return finish(completion)
    }
    isFinished = true
    _ = deliver()
  }

  /// Delivers the arrays that are due or full, as far as they are asked for, and returns what was asked for meanwhile.
  private func deliver() -> Subscribers.Demand {
    guard !isDelivering else { return .none }
    isDelivering = true
    var asked = Subscribers.Demand.none
    while isLive, demand > .none, !collected.isEmpty, isDue || isFinished || collected.count >= count ?? .max {
      let array: [Input]
      if let count, collected.count > count {
        array = Array(collected.prefix(count))
        collected.removeFirst(count)
      } else {
        array = collected
        collected = []
        isDue = false
      }
      demand -= 1
      let more = down.next(array)
      demand += more
      asked += more
    }
    isDelivering = false
    if collected.isEmpty {
      isDue = false
      if isFinished { finish(.finished) }
    }
    return asked
  }

  private func upstreamDemand(for arrays: Subscribers.Demand) -> Subscribers.Demand {
    count.map { arrays * $0 } ?? .none
  }

  private func request(upstream arrays: Subscribers.Demand) {
    let more = upstreamDemand(for: arrays)
    if more > .none, isLive, !isFinished { up?.request(more) }
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    demand.assertPositive(self)
    guard isLive else { return }
    self.demand += demand
    request(upstream: demand + deliver())
  }

  @usableFromInline
  override func cancel() {
    super.cancel()
    ticker.stop()
    let dropped = collected
    collected = []
    withExtendedLifetime(dropped) {}
  }
}
