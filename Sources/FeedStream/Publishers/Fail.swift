/// Fails immediately.
///
///     Fail(error: e)    #
///
/// **Demand:** the failure needs none. **Failure:** always, immediately. **Cancellation:** prevents the failure if the
/// subscriber cancels while subscribing. **Policy:** has no values.
@frozen public struct Fail<Output, Failure: Error>: Publisher, _DeliversAtHome {
  public let error: Failure

  @inlinable public init(error: Failure) { self.error = error }

  @inlinable public init(outputType: Output.Type, failure: Failure) { self.init(error: failure) }

  @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    subscriber.attach(ending: .failure(error))
  }
}

extension Fail: Equatable where Failure: Equatable {}
