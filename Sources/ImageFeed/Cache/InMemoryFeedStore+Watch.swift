public import FeedStream

extension InMemoryFeedStore: LiveFeedStore {
  public func watch(
    on scheduler: any LoopScheduler, _ changed: @escaping (Result<Void, FeedStoreError>) -> Void
  ) -> any Cancellable {
    bell.watch(on: scheduler, changed)
  }
}
