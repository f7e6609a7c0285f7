/// Work that runs aside when somebody subscribes: what ``SerialWorker/publisher(_:)`` makes.
///
/// One object per subscription, where a deferred future whose cancellation is tapped would be six: an application that
/// polls makes two of these each time.
@usableFromInline
struct AsideWork<Output: Sendable, Failure: Error>: Publisher {
  private let worker: SerialWorker
  private let work: @Sendable () throws(Failure) -> Output

  init(_ worker: SerialWorker, _ work: @escaping @Sendable () throws(Failure) -> Output) {
    self.worker = worker
    self.work = work
  }

  @usableFromInline
  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    let subscription = AsideSubscription(Downstream(subscriber))
    subscription.begin(worker.perform(work) { subscription.finish($0) })
  }
}

/// One subscriber that waits for its work.
private final class AsideSubscription<Output, Failure: Error>: Subscription, CustomStringConvertible {
  private var down: Downstream<Output, Failure>?
  private var job: (any Cancellable)?
  private var result: Result<Output, Failure>?
  private var hasDemand = false
  private var isAttached = false

  init(_ down: Downstream<Output, Failure>) { self.down = down }

  func begin(_ job: any Cancellable) {
    if result == nil { self.job = job }
    down?.receive(subscription: self)
    isAttached = true
    settle()
  }

  func finish(_ result: Result<Output, Failure>) {
    job = nil
    self.result = result
    settle()
  }

  func request(_ demand: Subscribers.Demand) {
    demand.assertPositive(self)
    hasDemand = true
    settle()
  }

  /// Delivers the result if there is one and it may be delivered.
  private func settle() {
    guard isAttached, let down, let result else { return }
    switch result {
    case .success(let output):
      guard hasDemand else { return }
      self.result = nil
      _ = down.next(output)
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

  func cancel() {
    let job = self.job
    down = nil
    result = nil
    self.job = nil
    job?.cancel()
  }

  var description: String { "SerialWorker" }
}
