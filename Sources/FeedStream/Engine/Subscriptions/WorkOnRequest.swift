/// Work that has one result and starts when the result is requested. A subscription of ``WorkOnRequest`` runs it.
package protocol RequestedWork<Output, Failure>: Cancellable {
  associatedtype Output
  associatedtype Failure: Error

  /// Starts the work. It calls `settle` once, on the stream's thread, and then releases the closure; if it is cancelled
  /// first, it only releases the closure.
  func start(_ settle: @escaping (Result<Output, Failure>) -> Void)
}

/// A publisher of one result: each subscription makes its own work and starts it with the first request.
///
/// **Demand:** the value is delivered with the completion. **Failure:** that of the work. **Cancellation:** cancels the
/// work.
package struct WorkOnRequest<Work: RequestedWork>: Publisher, _DeliversAtHome {
  package typealias Output = Work.Output
  package typealias Failure = Work.Failure

  private let name: StaticString
  private let make: () -> Work

  /// - Parameters:
  ///   - name: the publisher's name in messages.
  ///   - make: makes the work of one subscription; called with the first request.
  package init(_ name: StaticString, _ make: @escaping () -> Work) {
    self.name = name
    self.make = make
  }

  package func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    RequestedSubscription(name, ErasedSubscriber(subscriber), make).begin()
  }
}

private final class RequestedSubscription<Work: RequestedWork>: ResultSubscription<Work.Output, Work.Failure> {
  private let make: () -> Work

  init(_ name: StaticString, _ down: ErasedSubscriber<Work.Output, Work.Failure>, _ make: @escaping () -> Work) {
    self.make = make
    super.init(name, down, nil) { $0.deliver() }
  }

  override func requested(_ demand: Subscribers.Demand) {
    guard !isAsked, down != nil else { return }
    isAsked = true
    let work = make()
    self.work = work
    work.start { [self] in settle($0) }
  }
}
