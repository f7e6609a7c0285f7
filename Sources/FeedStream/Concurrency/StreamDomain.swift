/// Where a stream lives: on a loop's thread, or, when it was made on none, wherever its caller happens to be.
struct StreamDomain: Sendable {
  let loop: EventLoop?

  /// The domain of the calling code.
  static var current: StreamDomain { StreamDomain(loop: EventLoop.current) }

  /// Runs `work` where the stream lives: now if that is here, else on a turn of the loop.
  func run(_ work: @escaping @Sendable () -> Void) {
    guard let loop, !loop.isCurrent else { return work() }
    loop.execute(work)
  }
}

/// A publisher of which an asynchronous sequence is made, and where it lives.
// @unchecked: `attach` is called in the domain only, and without one where the caller vouches that the stream lives.
struct AsyncOrigin<Output: Sendable, Failure: Error>: @unchecked Sendable {
  private let domain: StreamDomain
  private let attach: (AsyncRelay<Output, Failure>) -> Void

  init<P: Publisher>(_ publisher: P, _ domain: StreamDomain) where P.Output == Output, P.Failure == Failure {
    self.domain = domain
    attach = { publisher.subscribe($0) }
  }

  /// Subscribes, until the lease is let go.
  func subscribe() -> RelayLease<Output, Failure> {
    let relay = AsyncRelay<Output, Failure>(domain)
    domain.run { attach(relay) }
    return RelayLease(relay)
  }
}

/// Cancels the subscription when nobody iterates any more.
final class RelayLease<Output: Sendable, Failure: Error>: Sendable {
  let relay: AsyncRelay<Output, Failure>

  init(_ relay: AsyncRelay<Output, Failure>) { self.relay = relay }

  deinit { relay.cancel() }
}
