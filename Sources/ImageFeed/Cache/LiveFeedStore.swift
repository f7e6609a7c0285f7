public import FeedStream
public import Foundation
import Synchronization

/// A store that reports its changes, including those by other processes that share it.
public protocol LiveFeedStore: FeedStore {
  /// Calls `changed` on `scheduler` when the watch has begun, and after each change by any process; some calls may be
  /// spurious. A failure is reported in the last call.
  ///
  /// - Returns: a cancellable that ends the watch.
  func watch(
    on scheduler: any LoopScheduler, _ changed: @escaping (Result<Void, FeedStoreError>) -> Void
  ) -> any Cancellable
}

extension LiveFeedStore {
  /// The saved feed of a URL and each change to it, including changes by other processes.
  ///
  ///     store.changes(of: url, on: loop).sink { print($0) } receiveValue: { print($0.added.count, "new") }
  ///
  /// The first value is the saved feed, if there is one, with all of its images marked as added. Each later value has
  /// the current feed, and the images that were added, removed, moved, or edited. A renewal without new images is not a
  /// change. The publisher makes no request and never finishes. **Demand:** the store is read when a change is
  /// requested; all saves since the previous read are delivered as one change. **Failure:** the store's error.
  /// **Cancellation:** ends the watch immediately. **Policy:** holds the latest feed.
  ///
  /// - Parameters:
  ///   - address: the feed's URL.
  ///   - scheduler: an `EventLoop`, or virtual time in a test. Its thread pool reads the store.
  public func changes(of address: URL, on scheduler: any LoopScheduler) -> AnyPublisher<FeedChange, FeedStoreError> {
    func value(_: URL, _ change: Result<FeedChange, FeedStoreError>) throws(FeedStoreError) -> FeedChange {
      try change.get()
    }
    return AnyPublisher(
      Pulled("changes(of:)") {
        FeedChangesReader(store: self, addresses: [address.absoluteURL], scheduler: scheduler, value: value)
      })
  }

  /// Delivers the changes of many feeds, with a single watch for all of them. After each change, all timestamps are
  /// compared, and only the feeds whose timestamps differ are read. A feed that can't be read is delivered as a
  /// failure, and the others continue. If the store can't be read or watched, for example because its folder was
  /// deleted, this is delivered as a failure of each feed. A failure isn't repeated until it changes or is over. The
  /// store is read and watched again every second until that succeeds; a damaged feed is read again after the next
  /// save.
  package func changes(
    of addresses: [URL], on scheduler: any LoopScheduler
  ) -> AnyPublisher<(address: URL, change: Result<FeedChange, FeedStoreError>), FeedStoreError> {
    AnyPublisher(
      Pulled("changes(of:)") {
        FeedChangesReader(store: self, addresses: addresses.map(\.absoluteURL), scheduler: scheduler) {
          (address: $0, change: $1)
        }
      })
  }
}

/// See ``LiveFeedStore/changes(of:on:)``.
private final class FeedChangesReader<Output>: PullSource {
  typealias Failure = FeedStoreError

  private let store: any LiveFeedStore
  private let addresses: [URL]
  private let scheduler: any LoopScheduler
  /// Makes the value to deliver. If it throws an error, the publisher fails with that error; otherwise, it continues
  /// even after failures.
  private let value: (URL, Result<FeedChange, FeedStoreError>) throws(FeedStoreError) -> Output
  private let worker: SerialWorker
  private let views: SavedViews
  private var watch: (any Cancellable)?
  /// True if something was saved since the store was last read.
  private var isStale = false
  private var reading: (any Cancellable)?
  /// The pause after the watch has failed.
  private var pause: (any Cancellable)?
  /// The failure of the watch that was delivered, if the store hasn't been read since with a working watch.
  private var reported: FeedStoreError?
  /// The pause after a reading in which a feed couldn't be read.
  private var retry: (any Cancellable)?

  init(
    store: any LiveFeedStore, addresses: [URL], scheduler: any LoopScheduler,
    value: @escaping (URL, Result<FeedChange, FeedStoreError>) throws(FeedStoreError) -> Output
  ) {
    (self.store, self.addresses, self.scheduler, self.value) = (store, addresses, scheduler, value)
    worker = SerialWorker(on: scheduler)
    views = SavedViews(of: addresses, in: store)
  }

  func cancelled(_: PullSubscription<Output, FeedStoreError>) {
    for work in [watch.take(), reading.take(), pause.take(), retry.take()] { work?.cancel() }
  }

  func wanted(by subscription: PullSubscription<Output, FeedStoreError>) -> Bool {
    guard pause == nil else { return false }
    if watch == nil {
      watch = store.watch(on: scheduler) { [weak self, weak subscription] news in
        guard let self, let subscription else { return }
        switch news {
        case .success:
          isStale = true
          subscription.serve()
        case .failure(let error): failed(error, subscription)
        }
      }
    }
    guard isStale, reading == nil, retry == nil else { return false }
    isStale = false
    reading = worker.perform { [views] in
      views.changes()
    } completion: { [weak self, weak subscription] result in
      guard let self, let subscription else { return }
      reading = nil
      if pause == nil { reported = nil }
      do throws(FeedStoreError) {
        for one in result.get() { subscription.hold(try value(one.address, one.change)) }
        readAgainLater(for: subscription)
        subscription.serve()
      } catch {
        cancelled(subscription)
        subscription.end(.failure(error))
      }
    }
    return false
  }

  /// Reads the store again no earlier than after a pause if a feed couldn't be read, even if nothing is saved in the
  /// meantime. Without the pause, a failed reading would be repeated immediately, because it closes the cache file,
  /// which deletes files beside it, and so looks like a change.
  private func readAgainLater(for subscription: PullSubscription<Output, FeedStoreError>) {
    retry.take()?.cancel()
    guard views.hasFailures else { return }
    retry = scheduler.once(after: Duration.seconds(1)) { [weak self, weak subscription] in
      guard let self else { return }
      retry = nil
      if views.mayReadMoreLater { isStale = true }
      subscription?.serve()
    }
  }

  /// Ends the stream, or delivers the watch's failure, and watches the store again after a pause. A reading that has
  /// begun isn't cancelled, because the changes that it finds wouldn't be found again.
  private func failed(_ error: FeedStoreError, _ subscription: PullSubscription<Output, FeedStoreError>) {
    do throws(FeedStoreError) {
      let failures = try addresses.map { address throws(FeedStoreError) in
        try value(address, .failure(error))
      }
      for work in [watch.take(), pause.take()] { work?.cancel() }
      if error != reported { for failure in failures { subscription.hold(failure) } }
      reported = error
      pause = scheduler.once(after: Duration.seconds(1)) { [weak self, weak subscription] in
        self?.pause = nil
        // A watch that failed before it was returned is still here.
        self?.watch.take()?.cancel()
        subscription?.serve()
      }
      subscription.serve()
    } catch {
      cancelled(subscription)
      subscription.end(.failure(error), dropsHeld: true)
    }
  }
}

/// Notifies the watches in this process that the store has changed.
package final class StoreBell: Sendable {
  // One sender per watch. A sender may be called on any thread.
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
