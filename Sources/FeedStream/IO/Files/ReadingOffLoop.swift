/// Delivers chunks read by blocking work on the thread pool, one read per requested chunk.
class ReadingOffLoop: GuardedSubscription {
  private(set) final var down: ErasedSubscriber<Chunk, SystemError>?
  final let scheduler: any LoopScheduler
  private(set) final var demand = Subscribers.Demand.none
  private final let isOver: () -> Bool
  private final let work: @Sendable () -> Result<Chunk, SystemError>
  private(set) final var isReading = false
  private final var job: (any Cancellable)?

  /// - Parameters:
  ///   - isOver: returns true if it is already known that there is nothing left to read.
  ///   - work: reads the next bytes, or returns an empty chunk at the end; runs on the thread pool, one call at a time.
  init(
    _ down: ErasedSubscriber<Chunk, SystemError>, on scheduler: any LoopScheduler,
    isOver: @escaping () -> Bool = { false }, _ work: @escaping @Sendable () -> Result<Chunk, SystemError>
  ) {
    self.down = down
    self.scheduler = scheduler
    self.isOver = isOver
    self.work = work
  }

  // MARK: For subclasses

  /// Called when a read begins.
  func reads() {}
  /// Called when a read has found no more bytes.
  func cameToEnd() { end(.finished) }
  /// Called when all requested chunks have been delivered.
  func isSatisfied() {}
  /// Called when the stream is over. A subclass that has something to release must also release it in its `deinit`.
  func releases() {}

  // MARK: Reading

  override final func requested(_ demand: Subscribers.Demand) {
    self.demand += demand
    read()
  }

  final func read() {
    guard !isReading, demand > .none, down != nil else { return }
    guard !isOver() else { return end(.finished) }
    isReading = true
    reads()
    job = scheduler.offload { [work] in
      work()
    } completion: { [self] in
      receive($0)
    }
  }

  private func receive(_ result: Result<Chunk, SystemError>) {
    isReading = false
    job = nil
    guard let down else { return }
    switch result {
    case .success(let chunk) where chunk.isEmpty: cameToEnd()
    case .success(let chunk):
      demand -= 1
      // Start the next read, so that it runs while this chunk is being delivered.
      let isLast = isOver()
      if !isLast { read() }
      demand += down.receive(chunk)
      if isLast { return end(.finished) }
      if demand == .none { isSatisfied() }
      read()
    case .failure(let error): end(.failure(error))
    }
  }

  final func end(_ completion: Subscribers.Completion<SystemError>) {
    let down = self.down
    release()
    down?.receive(completion: completion)
  }

  override final func cancelled() { release() }

  override final func tell(_ facts: inout StreamFacts) {
    facts.delivers(to: down)
    facts.demand = demand
    if isReading { facts.reason = "a thread of the pool is reading, or all threads of the pool are busy" }
    facts.isOver = down == nil
  }

  private func release() {
    down = nil
    job.take()?.cancel()
    releases()
  }
}

extension ReadingOffLoop: Traceable {
  var below: Any { down?.subscriber ?? () }
}
