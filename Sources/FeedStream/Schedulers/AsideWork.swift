/// Work that runs aside when somebody subscribes: what ``SerialWorker/publisher(_:)`` makes.
///
/// One object per subscription, where a deferred future whose cancellation is tapped would be six: an application that
/// polls makes two of these each time.
@frozen @usableFromInline struct AsideWork<Output: Sendable, Failure: Error>: Publisher {
  @usableFromInline let worker: SerialWorker
  @usableFromInline let work: @Sendable () throws(Failure) -> Output

  @inlinable init(_ worker: SerialWorker, _ work: @escaping @Sendable () throws(Failure) -> Output) {
    self.worker = worker
    self.work = work
  }

  @inlinable func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    let subscription = AsideSubscription(ErasedSubscriber(subscriber))
    subscription.begin(worker.perform(work) { subscription.finish($0) })
  }
}

/// One subscriber that waits for its work.
@usableFromInline final class AsideSubscription<Output, Failure: Error>: Subscription, CustomStringConvertible {
  @exclusivity(unchecked) @usableFromInline var down: ErasedSubscriber<Output, Failure>?
  @exclusivity(unchecked) @usableFromInline var job: (any Cancellable)?
  @exclusivity(unchecked) @usableFromInline var result: Result<Output, Failure>?
  @exclusivity(unchecked) @usableFromInline var hasDemand = false
  @exclusivity(unchecked) @usableFromInline var isAttached = false

  @inlinable init(_ down: ErasedSubscriber<Output, Failure>) { self.down = down }

  @inlinable func begin(_ job: any Cancellable) {
    if result == nil { self.job = job }
    down?.receive(subscription: self)
    isAttached = true
    settle()
  }

  @inlinable func finish(_ result: Result<Output, Failure>) {
    job = nil
    self.result = result
    settle()
  }

  @inlinable func request(_ demand: Subscribers.Demand) {
    demand.assertPositive(self)
    hasDemand = true
    if isAttached { settle() }
  }

  /// Delivers the result if there is one and it may be delivered.
  @inlinable func settle() {
    guard isAttached, let down, let result else { return }
    switch result {
    case .success(let output):
      guard hasDemand else { return }
      self.result = nil
      _ = down.receive(output)
      // The value may have led to a cancellation.
      guard self.down != nil else { return }
      self.down = nil
      down.receive(completion: .finished)
    case .failure(let error):
      self.down = nil
      self.result = nil
      down.receive(completion: .failure(error))
    }
  }

  @inlinable func cancel() {
    let job = self.job
    down = nil
    result = nil
    self.job = nil
    job?.cancel()
  }

  @usableFromInline var description: String { "SerialWorker" }
}
