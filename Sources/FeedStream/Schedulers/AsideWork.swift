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
    let subscription = ResultSubscription("SerialWorker", ErasedSubscriber(subscriber))
    subscription.begin(worker.perform(work) { subscription.settle($0) })
  }
}
