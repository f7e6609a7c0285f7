public import FeedStream
public import Foundation

/// Gives access to the history of feeds, through publishers that read a ``HistoryStore``.
///
/// A publisher does nothing until it is subscribed to. Use the history only on its cache's scheduler, like a stream.
public struct FeedHistory {
  private let store: any HistoryStore & ShownImagesStore
  private let cache: FeedCache

  /// - Parameters:
  ///   - store: the store to read.
  ///   - cache: its worker runs the calls to the store, after earlier saves.
  public init(store: any HistoryStore & ShownImagesStore, cache: FeedCache) {
    self.store = store
    self.cache = cache
  }

  /// One page of a feed's former items; the last page has no ``SeenPage/next``.
  public func page(
    of address: URL, after place: SeenPage.Place?, size: Int = 50
  ) -> AnyPublisher<SeenPage, FeedStoreError> {
    let store = store
    return cache.worker.publisher { () throws(FeedStoreError) in
      try store.history(of: address, after: place, limit: size)
    }
  }

  /// The new items and the starred items of a feed that is being shown.
  public struct Visit: Hashable, Sendable {
    /// The items that were not shown before; empty on the first visit.
    public var new: Set<FeedImage.ID>
    public var stars: Set<FeedImage.ID>

    public init(new: Set<FeedImage.ID> = [], stars: Set<FeedImage.ID> = []) {
      self.new = new
      self.stars = stars
    }
  }

  /// Records that images of a feed are shown, and delivers those that are new since the last visit and those that are
  /// starred.
  public func visit(_ images: FeedImages, of address: URL) -> AnyPublisher<Visit, FeedStoreError> {
    let store = store
    return cache.worker.publisher { () throws(FeedStoreError) in
      let recorded = try store.shownImages(for: address)
      var new = recorded?.new(in: images) ?? []
      if recorded == nil || !new.isEmpty {
        try store.changeShownImages(for: address) { shown in
          new = shown?.new(in: images) ?? []
          shown = shown ?? ShownImages()
          shown?.add(images)
        }
      }
      return Visit(new: Set(new.map { images[$0].id }), stars: try store.stars(of: address))
    }
  }

  /// The items that match a query, newest first, in pages of ``SeenQuery/limit`` images.
  ///
  /// Updates the index first, if something has changed since the last query: see ``index()``.
  ///
  /// **Demand:** a page is read when it is requested. Completes after the last one, which is never empty. **Failure:**
  /// the store's error. **Cancellation:** a page that is being read is not delivered.
  ///
  /// - Parameter onIndexing: receives the progress of the index, while it is not complete. Does nothing by default.
  public func results(
    of query: SeenQuery, onIndexing: @escaping (IndexProgress) -> Void = { _ in }
  ) -> AnyPublisher<SeenPage, FeedStoreError> {
    let (store, worker) = (store, cache.worker)
    let indexing = index()
      .handleEvents(receiveOutput: { if !$0.isComplete { onIndexing($0) } })
      .compactMap { _ in SeenPage?.none }
    func page(after place: SeenPage.Place?) -> AnyPublisher<SeenPage, FeedStoreError> {
      worker.publisher { () throws(FeedStoreError) in
        var query = query
        query.after = place ?? query.after
        return try store.seen(query)
      }
      .flatMap(maxPublishers: .max(1)) { found -> AnyPublisher<SeenPage, FeedStoreError> in
        guard !found.images.isEmpty else { return Empty().eraseToAnyPublisher() }
        let one = Just(found).setFailureType(to: FeedStoreError.self)
        guard let next = found.next else { return one.eraseToAnyPublisher() }
        return one.append(Deferred { page(after: next) }).eraseToAnyPublisher()
      }
      .eraseToAnyPublisher()
    }
    return indexing.append(Deferred { page(after: nil) }).eraseToAnyPublisher()
  }

  /// The number of items in one part of an index update; the worker's other work waits until the part is indexed.
  static let indexedAtOnce = 2_000

  /// Updates the word index, part by part, and delivers its progress: at first, and after each part.
  ///
  /// A cancellation keeps the indexed parts. **Demand:** a part is indexed when its value is requested. Completes when
  /// the index is up to date, or when other processes change feeds faster than the index can follow. **Failure:** the
  /// store's error. **Cancellation:** the running part is completed.
  public func index() -> AnyPublisher<IndexProgress, FeedStoreError> {
    let (store, worker) = (store, cache.worker)
    func part(after last: IndexProgress?) -> AnyPublisher<IndexProgress, FeedStoreError> {
      worker.publisher { () throws(FeedStoreError) in try store.index(atMost: last == nil ? 0 : Self.indexedAtOnce) }
        .flatMap(maxPublishers: .max(1)) { now -> AnyPublisher<IndexProgress, FeedStoreError> in
          let one = Just(now).setFailureType(to: FeedStoreError.self)
          let isStuck = last.map { now.indexed <= $0.indexed } ?? false
          guard !now.isComplete, !isStuck else { return one.eraseToAnyPublisher() }
          return one.append(Deferred { part(after: now) }).eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }
    return Deferred { part(after: nil) }.eraseToAnyPublisher()
  }

  /// The items with the given name: see ``HistoryStore/items(named:)``.
  public func items(named name: String) -> AnyPublisher<[SeenImage], FeedStoreError> {
    let store = store
    return cache.worker.publisher { () throws(FeedStoreError) in try store.items(named: name) }
  }

  /// Stars an item, or removes its star; delivers false if there is no such item.
  public func setStar(_ isStarred: Bool, _ id: FeedImage.ID, of address: URL) -> AnyPublisher<Bool, FeedStoreError> {
    let (store, now) = (store, cache.now)
    return cache.worker.publisher { () throws(FeedStoreError) in
      try store.setStar(isStarred, id, of: address, now: now())
    }
  }
}
