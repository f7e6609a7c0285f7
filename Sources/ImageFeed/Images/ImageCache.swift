public import FeedStream
public import Foundation

/// Gives a loop access to the saved images. The most recently used ones are in memory, and all of them are in a store.
/// Calls to the store run on the thread pool, one at a time.
///
/// Use the cache only on its scheduler's thread, like a stream.
public final class ImageCache {
  let store: any ImageStore
  let worker: SerialWorker
  public let now: @Sendable () -> Date
  var memory: MemoryImages

  /// - Parameters:
  ///   - store: keeps the images.
  ///   - scheduler: delivers the results; its thread pool runs calls to the store.
  ///   - memoryLimit: the maximum number of image bytes kept in memory; one image may take up to a tenth of it. 64 MiB
  ///     by default.
  ///   - now: the wall clock.
  public init(
    store: any ImageStore, on scheduler: any LoopScheduler, memoryLimit: Int = 64 << 20,
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.store = store
    self.now = now
    worker = SerialWorker(on: scheduler)
    memory = MemoryImages(limit: memoryLimit)
  }

  /// The saved image of one URL.
  public func image(at url: URL) -> LocalImage { LocalImage(url: url, cache: self) }
}

/// The saved image of one URL.
public struct LocalImage {
  public let url: URL
  let cache: ImageCache

  /// The saved image, in memory or on disk, unless its lifetime has passed or it is only a smaller copy.
  ///
  /// **Demand:** the image is held until requested. **Failure:** ``CacheMiss`` when nothing is saved, when its lifetime
  /// has passed, when it is too small, or when it cannot be read. **Cancellation:** prevents a retrieval that has not
  /// begun.
  ///
  /// - Parameters:
  ///   - ageless: true to deliver any saved image.
  ///   - width: the width in pixels that is needed; `nil` if only the original will do.
  public func load(ageless: Bool = false, width: Int? = nil) -> some Publisher<Saved<FetchedImage>, CacheMiss> {
    let now = cache.now
    return retrieve()
      .mapError(CacheMiss.failed)
      .switchIfEmpty(Fail(error: .empty))
      .flatMap(maxPublishers: .max(1)) { saved -> Result<Saved<FetchedImage>, CacheMiss>.Publisher in
        let age = FeedCachePolicy.age(of: saved.timestamp, now: now())
        let isFresh = age < saved.value.lifetime && age >= .zero - FeedCachePolicy.clockTolerance
        let isUsable = isFresh && saved.value.suffices(for: width)
        return Result.Publisher(ageless || isUsable ? .success(saved) : .failure(.expired(age: age)))
      }
  }

  /// True if the store's owner keeps the original (``ImageStore/isKept(_:)``).
  func isKept() -> AnyPublisher<Bool, FeedStoreError> {
    cache.worker.publisher { [store = cache.store, url] () throws(FeedStoreError) in try store.isKept(url) }
      .eraseToAnyPublisher()
  }

  /// Saves a smaller copy in place of the original, with its lifetime and its validators, and delivers true if it was
  /// saved. The saved image stays if it isn't the original anymore, or if the store's owner keeps it.
  func reducing(_ original: ImageData, to copy: ImageData, width: Int) -> AnyPublisher<Bool, FeedStoreError> {
    let (cache, url, now) = (cache, url, cache.now)
    // The store may have refused the original for its size.
    let known = cache.memory.use(url)
    return cache.worker.publisher { [store = cache.store] () throws(FeedStoreError) -> Bool in
      guard try !store.isKept(url), let saved = try store.retrieve(for: url, now: now()) ?? known,
        saved.value.data == original
      else { return false }
      let image = FetchedImage(copy, lifetime: saved.value.lifetime, reducedWidth: width)
      return try store.save(
        Saved(image, timestamp: saved.timestamp, validators: saved.validators), for: url, now: now())
    }
    .handleEvents(receiveOutput: { if $0 { cache.memory.remove(url) } })
    .eraseToAnyPublisher()
  }

  /// Deletes the image; finishes when that is done.
  func deleting() -> AnyPublisher<Void, FeedStoreError> {
    let (cache, url) = (cache, url)
    return Deferred {
      cache.memory.remove(url)
      return cache.worker.publisher { [store = cache.store] () throws(FeedStoreError) in try store.delete(for: url) }
        .compactMap { _ -> Void? in nil }
    }
    .eraseToAnyPublisher()
  }
}

extension LocalImage: LocalCopy {
  public var now: @Sendable () -> Date { cache.now }

  /// Saves immediately, in memory and in the store; finishes without a value when the save is complete. Fails if the
  /// image is too large for the store.
  public func saving(_ image: Saved<FetchedImage>) -> AnyPublisher<FetchedImage, FeedStoreError> {
    cache.memory.insert(image, for: url)
    let (store, url, now) = (cache.store, url, cache.now)
    return Future<Bool, FeedStoreError> { promise in
      cache.worker.perform(
        { () throws(FeedStoreError) -> Bool in
          guard try store.save(image, for: url, now: now()) else {
            let size = image.value.data.bytes.count.byteSize
            throw .insertion(.other("an image of \(size) is too large for its limit"), place: "the image cache")
          }
          return true
        }, completion: promise)
    }
    .compactMap { _ in nil }
    .eraseToAnyPublisher()
  }

  /// The saved image, whatever its age, in memory or on disk.
  public func retrieve() -> AnyPublisher<Saved<FetchedImage>, FeedStoreError> {
    let (cache, url) = (cache, url)
    return Deferred { () -> AnyPublisher<Saved<FetchedImage>, FeedStoreError> in
      if let image = cache.memory.use(url) {
        return Just(image).setFailureType(to: FeedStoreError.self).eraseToAnyPublisher()
      }
      let (store, now) = (cache.store, cache.now)
      return cache.worker.publisher { () throws(FeedStoreError) in try store.retrieve(for: url, now: now()) }
        .compactMap { $0 }
        .handleEvents(receiveOutput: { cache.memory.insert($0, for: url) })
        .eraseToAnyPublisher()
    }
    .eraseToAnyPublisher()
  }
}
