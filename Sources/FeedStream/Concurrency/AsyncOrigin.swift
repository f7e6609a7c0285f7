/// The publisher of an asynchronous sequence, and the place where it lives.
// @unchecked: `attach` is called at home only, and without a home where the caller vouches that the stream lives.
@usableFromInline struct AsyncOrigin<Output: Sendable, Failure: Error>: @unchecked Sendable {
  private let home: StreamHome
  private let attach: (AsyncRelay<Output, Failure>) -> Void
  /// Kept by what may still be iterated; `nil` while warnings are off.
  private let unread: UnreadValues?

  /// - Parameters:
  ///   - loop: where the publisher lives; by default where this is made.
  ///   - attach: subscribes to the publisher; formed where its type is known, so that what is above stays specialized.
  @usableFromInline init(on loop: EventLoop? = nil, attach: @escaping (AsyncRelay<Output, Failure>) -> Void) {
    home = loop.map { StreamHome(domain: $0) } ?? .current
    self.attach = attach
    unread = Warnings.areOn && home.keepsLoopAlive && home.domain?.isHere == true ? UnreadValues() : nil
    if let unread { home.domain?.subscriptions?.add(unread) }
  }

  /// Subscribes, until the lease is released.
  func subscribe() -> RelayLease<Output, Failure> {
    let relay = AsyncRelay<Output, Failure>(home)
    unread?.read()
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
