public import FeedStream
public import Foundation
import Synchronization

/// A store that says when somebody has changed it: this process, or another one that shares it.
public protocol LiveFeedStore: FeedStore {
  /// Calls `changed` on `scheduler` when the watch stands, and after each change by anybody; some calls may be for nothing.
  /// A failure is the last call.
  ///
  /// - Returns: what ends the watch.
  func watch(
    on scheduler: any LoopScheduler, _ changed: @escaping (Result<Void, FeedStoreError>) -> Void
  ) -> any Cancellable
}

extension LiveFeedStore {
  /// The saved feed of an address and its changes, whoever saves them: another process, too.
  ///
  ///     store.changes(of: url, on: loop).sink { print($0) } receiveValue: { print($0.added.count, "new") }
  ///
  /// First the feed as it is saved, if it is: all of it is added. Then what was added, removed and moved, and the feed with
  /// it. A feed that is only renewed has not changed. Nothing is asked of any server. Never finishes. **Demand:** the store
  /// is read when a change is wanted; what was saved several times meanwhile is one change. **Failure:** the store's.
  /// **Cancellation:** ends the watch immediately. **Policy:** holds the latest feed.
  ///
  /// - Parameters:
  ///   - address: the feed's.
  ///   - scheduler: an `EventLoop`, or virtual time in a test. Its thread pool reads the store.
  public func changes(of address: URL, on scheduler: any LoopScheduler) -> AnyPublisher<FeedChange, FeedStoreError> {
    AnyPublisher(FeedChanges(store: self, address: address.absoluteURL, scheduler: scheduler))
  }
}

/// See ``LiveFeedStore/changes(of:on:)``.
private struct FeedChanges: Publisher {
  typealias Output = FeedChange
  typealias Failure = FeedStoreError

  let store: any LiveFeedStore
  let address: URL
  let scheduler: any LoopScheduler

  func receive<S: Subscriber>(subscriber: S) where S.Input == FeedChange, S.Failure == FeedStoreError {
    subscriber.receive(
      subscription: FeedChangesSubscription(self) {
        subscriber.receive($0)
      } fail: {
        subscriber.receive(completion: .failure($0))
      })
  }
}

private final class FeedChangesSubscription: Subscription {
  private let scheduler: any LoopScheduler
  private let store: any LiveFeedStore
  private let worker: SerialWorker
  private let view: SavedView
  private var receive: ((FeedChange) -> Subscribers.Demand)?
  private var fail: ((FeedStoreError) -> Void)?
  private var demand = Subscribers.Demand.none
  private var watch: (any Cancellable)?
  /// Something was saved since the store was last read.
  private var isStale = false
  private var reading: (any Cancellable)?

  init(
    _ changes: FeedChanges, receive: @escaping (FeedChange) -> Subscribers.Demand,
    fail: @escaping (FeedStoreError) -> Void
  ) {
    scheduler = changes.scheduler
    store = changes.store
    worker = SerialWorker(on: changes.scheduler)
    view = SavedView(of: changes.address, in: changes.store)
    self.receive = receive
    self.fail = fail
  }

  func request(_ demand: Subscribers.Demand) {
    precondition(demand > .none, "changes(of:): request(.none) asks for nothing; request one or more")
    guard receive != nil else { return }
    self.demand += demand
    if watch == nil { watch = store.watch(on: scheduler) { [weak self] in self?.changed($0) } }
    read()
  }

  func cancel() {
    receive = nil
    fail = nil
    for work in [watch.take(), reading.take()] { work?.cancel() }
  }

  private func changed(_ news: Result<Void, FeedStoreError>) {
    switch news {
    case .success:
      isStale = true
      read()
    case .failure(let error): end(error)
    }
  }

  private func read() {
    guard isStale, reading == nil, demand > .none, receive != nil else { return }
    isStale = false
    reading = worker.perform { [view] () throws(FeedStoreError) in
      try view.change()
    } completion: { [weak self] in
      self?.wasRead($0)
    }
  }

  private func wasRead(_ result: Result<FeedChange?, FeedStoreError>) {
    reading = nil
    switch result {
    case .failure(let error): return end(error)
    case .success(nil): break
    case .success(let change?):
      guard let receive else { return }
      demand -= 1
      demand += receive(change)
    }
    read()
  }

  private func end(_ error: FeedStoreError) {
    let fail = self.fail
    cancel()
    fail?(error)
  }
}

/// What one subscriber has seen of a saved feed; used on the thread pool.
private final class SavedView: Sendable {
  private let address: URL
  private let store: any FeedStore
  private let seen = Mutex<CachedFeed?>(nil)

  init(of address: URL, in store: any FeedStore) {
    self.address = address
    self.store = store
  }

  /// What has changed since the last call; `nil` for nothing.
  func change() throws(FeedStoreError) -> FeedChange? {
    let old = seen.withLock { $0 }
    let summary = try store.summary(for: address)
    if let old, let summary {
      // Another time and other validators alone are a renewal.
      if summary.timestamp == old.timestamp, summary.validators == old.validators { return nil }
      if let digest = summary.validators.digest, digest == old.validators.digest { return nil }
    }
    let new = summary == nil ? nil : try store.retrieve(for: address)
    seen.withLock { $0 = new }
    if old?.images == new?.images, (old == nil) == (new == nil) { return nil }
    return FeedChange(from: old?.images ?? [], to: new)
  }
}

/// Tells those who watch a store of this process that something has changed.
package final class StoreBell: Sendable {
  // Of each watch what it is rung with; a sender may be called on any thread.
  private let senders = Mutex<(next: Int, all: [Int: StreamSender<Void, Never>])>((0, [:]))

  package init() {}

  package func ring() {
    for (_, sender) in senders.withLock({ $0.all }) { _ = sender.send(()) }
  }

  package func watch(
    on scheduler: any LoopScheduler, _ changed: @escaping (Result<Void, FeedStoreError>) -> Void
  ) -> any Cancellable {
    let subject = PassthroughSubject<Void, Never>()
    let sender = subject.sender(on: scheduler, keepsLoopAlive: false)
    let number = senders.withLock { senders in
      senders.next += 1
      senders.all[senders.next] = sender
      return senders.next
    }
    let subscription = subject.sink { changed(.success(())) }
    _ = sender.send(())
    return AnyCancellable { [self] in
      _ = senders.withLock { $0.all.removeValue(forKey: number) }
      subscription.cancel()
    }
  }
}
