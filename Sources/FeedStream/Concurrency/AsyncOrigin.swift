/// The publisher behind an asynchronous sequence, and the publisher's home.
// @unchecked: `attach` is called only at home; without a home, the caller must iterate where the stream lives.
@usableFromInline struct AsyncOrigin<Output: Sendable, Failure: Error>: @unchecked Sendable {
  private let home: StreamHome
  private let attach: (AsyncRelay<Output, Failure>) -> Void
  /// The unread values, retained by the sequences that may still be iterated; `nil` if no loop waits for them.
  private let unread: UnreadValues?

  /// - Parameters:
  ///   - loop: the loop on which the publisher lives; by default, the loop of the calling code.
  ///   - attach: subscribes to the publisher; created where the publisher's type is known, so that the operators above
  ///     stay specialized.
  ///   - publisher: the publisher, which decides whether its loop waits for it.
  @usableFromInline init(
    on loop: EventLoop? = nil, _ publisher: some Publisher, attach: @escaping (AsyncRelay<Output, Failure>) -> Void
  ) {
    home = loop.map { StreamHome(domain: $0) } ?? .current
    self.attach = attach
    let isWaitedFor = home.keepsLoopAlive && (publisher as? any LoopKeeping)?.keeps != false
    if isWaitedFor, let domain = home.domain, domain.isHere {
      let unread = UnreadValues(waitedForBy: domain)
      if Warnings.areOn { domain.subscriptions?.add(unread) }
      self.unread = unread
    } else if isWaitedFor, let early = home.early {
      let unread = UnreadValues(waitedForBy: early)
      if Warnings.areOn { LiveSubscriptions.beforeLoop.add(unread) }
      self.unread = unread
    } else {
      unread = nil
    }
  }

  /// Subscribes; the subscription lasts until the lease is released.
  func subscribe() -> RelayLease<Output, Failure> {
    let relay = AsyncRelay<Output, Failure>(home)
    if let early = home.early {
      // The loop of the thread that made the sequence waits for the work that this subscription starts.
      Home.$holderOfTask.withValue(early) { attach(relay) }
    } else {
      relay.begin(attach)
    }
    if Warnings.areOn {
      home.domain?.subscriptions?.addReader(relay)
      if home.domain == nil, home.early == nil { TaskReaders.add(relay) }
    }
    unread?.read()
    return RelayLease(relay)
  }
}

/// Cancels the subscription when the last iterator is released.
final class RelayLease<Output: Sendable, Failure: Error>: Sendable {
  let relay: AsyncRelay<Output, Failure>

  init(_ relay: AsyncRelay<Output, Failure>) { self.relay = relay }

  deinit { relay.cancel() }
}
