public import FeedStream
public import Foundation
import Synchronization

/// A store that reports its changes, by this process or by another one that shares it.
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
  /// The saved feed of an address and its changes, even those by another process.
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
    func value(_: URL, _ change: Result<FeedChange, FeedStoreError>) throws(FeedStoreError) -> FeedChange {
      try change.get()
    }
    return AnyPublisher(FeedChanges(store: self, addresses: [address.absoluteURL], scheduler: scheduler, value: value))
  }

  /// The same for many feeds, with one watch: a change is one look at the times of all, and only what differs is read. A feed
  /// that cannot be read is a failure of its own, and the others go on.
  package func changes(
    of addresses: [URL], on scheduler: any LoopScheduler
  ) -> AnyPublisher<(address: URL, change: Result<FeedChange, FeedStoreError>), FeedStoreError> {
    AnyPublisher(
      FeedChanges(store: self, addresses: addresses.map(\.absoluteURL), scheduler: scheduler) {
        (address: $0, change: $1)
      })
  }
}

/// See ``LiveFeedStore/changes(of:on:)``.
private struct FeedChanges<Output>: Publisher {
  typealias Failure = FeedStoreError

  let store: any LiveFeedStore
  let addresses: [URL]
  let scheduler: any LoopScheduler
  /// The value that is delivered; what it throws is the ending.
  let value: (URL, Result<FeedChange, FeedStoreError>) throws(FeedStoreError) -> Output

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == FeedStoreError {
    subscriber.receive(
      subscription: FeedChangesSubscription(of: addresses, in: store, on: scheduler) {
        address, change throws(FeedStoreError) in
        subscriber.receive(try value(address, change))
      } fail: {
        subscriber.receive(completion: .failure($0))
      })
  }
}

private final class FeedChangesSubscription: Subscription {
  private let scheduler: any LoopScheduler
  private let store: any LiveFeedStore
  private let worker: SerialWorker
  private let views: SavedViews
  private var receive: ((URL, Result<FeedChange, FeedStoreError>) throws(FeedStoreError) -> Subscribers.Demand)?
  private var fail: ((FeedStoreError) -> Void)?
  private var demand = Subscribers.Demand.none
  private var watch: (any Cancellable)?
  /// Something was saved since the store was last read.
  private var isStale = false
  /// The changes that were read and are not delivered yet.
  private var found: ArraySlice<SavedViews.Found> = []
  private var isDelivering = false
  private var reading: (any Cancellable)?

  init(
    of addresses: [URL], in store: any LiveFeedStore, on scheduler: any LoopScheduler,
    receive: @escaping (URL, Result<FeedChange, FeedStoreError>) throws(FeedStoreError) -> Subscribers.Demand,
    fail: @escaping (FeedStoreError) -> Void
  ) {
    self.scheduler = scheduler
    self.store = store
    worker = SerialWorker(on: scheduler)
    views = SavedViews(of: addresses, in: store)
    self.receive = receive
    self.fail = fail
  }

  func request(_ demand: Subscribers.Demand) {
    precondition(demand > .none, "changes(of:): request(.none) asks for nothing; request one or more")
    guard receive != nil else { return }
    self.demand += demand
    if watch == nil { watch = store.watch(on: scheduler) { [weak self] in self?.changed($0) } }
    deliver()
  }

  func cancel() {
    receive = nil
    fail = nil
    found = []
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
    guard isStale, reading == nil, found.isEmpty, demand > .none, receive != nil else { return }
    isStale = false
    reading = worker.perform { [views] () throws(FeedStoreError) in
      try views.changes()
    } completion: { [weak self] in
      self?.wasRead($0)
    }
  }

  private func wasRead(_ result: Result<[SavedViews.Found], FeedStoreError>) {
    reading = nil
    switch result {
    case .failure(let error): return end(error)
    case .success(let changes): found = changes[...]
    }
    deliver()
  }

  private func deliver() {
    guard !isDelivering else { return }
    isDelivering = true
    while demand > .none, let receive, let next = found.popFirst() {
      demand -= 1
      do throws(FeedStoreError) {
        demand += try receive(next.address, next.change)
      } catch {
        end(error)
      }
    }
    isDelivering = false
    read()
  }

  private func end(_ error: FeedStoreError) {
    let fail = self.fail
    cancel()
    fail?(error)
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
    let subject = PassthroughSubject<Void, Never>(of: "StoreBell")
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
