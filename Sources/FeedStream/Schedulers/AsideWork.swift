/// The publisher of ``SerialWorker/publisher(_:)``: runs work off the loop on subscription.
///
/// Each subscription is one object. A deferred future that handles its cancellation would take six objects, and an
/// application that polls makes two such subscriptions per poll.
@frozen @usableFromInline struct AsideWork<Output, Failure: Error>: Publisher, _DeliversAtHome {
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
