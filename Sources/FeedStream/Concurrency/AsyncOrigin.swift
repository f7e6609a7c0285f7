/// The publisher of an asynchronous sequence, and the place where it lives.
// @unchecked: `attach` is called at home only, and without a home where the caller vouches that the stream lives.
struct AsyncOrigin<Output: Sendable, Failure: Error>: @unchecked Sendable {
  private let home: StreamHome
  private let attach: (AsyncRelay<Output, Failure>) -> Void

  init<P: Publisher>(_ publisher: P, _ home: StreamHome) where P.Output == Output, P.Failure == Failure {
    self.home = home
    attach = { publisher.subscribe($0) }
  }

  /// Subscribes, until the lease is released.
  func subscribe() -> RelayLease<Output, Failure> {
    let relay = AsyncRelay<Output, Failure>(home)
    home.run { attach(relay) }
    return RelayLease(relay)
  }
}

/// Cancels the subscription when nothing iterates any more.
final class RelayLease<Output: Sendable, Failure: Error>: Sendable {
  let relay: AsyncRelay<Output, Failure>

  init(_ relay: AsyncRelay<Output, Failure>) { self.relay = relay }

  deinit { relay.cancel() }
}
