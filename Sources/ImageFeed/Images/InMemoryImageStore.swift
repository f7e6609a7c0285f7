public import Foundation
import Synchronization

/// A store of images that forgets everything when the process ends: for tests, and for programs that write nothing to
/// disk.
public final class InMemoryImageStore: ImageStore {
  private let images = Mutex<[URL: Saved<FetchedImage>]>([:])
  private let known = Mutex<[URL: ImageFacts]>([:])
  private let fault: @Sendable (FeedStoreError.Step) -> FeedStoreError.Cause?

  /// - Parameter fault: called before every call; if it returns a cause, the call fails with that cause. The closure
  ///   must be quick, and must not call the store.
  public init(fault: @escaping @Sendable (FeedStoreError.Step) -> FeedStoreError.Cause? = { _ in nil }) {
    self.fault = fault
  }

  public func retrieve(for url: URL, now: Date) throws(FeedStoreError) -> Saved<FetchedImage>? {
    try attempt(.retrieval)
    return images.withLock { $0[url] }
  }

  @discardableResult
  public func save(_ image: Saved<FetchedImage>, for url: URL, now: Date) throws(FeedStoreError) -> Bool {
    try attempt(.insertion)
    images.withLock { $0[url] = image }
    return true
  }

  public func delete(for url: URL) throws(FeedStoreError) {
    try attempt(.deletion)
    images.withLock { $0[url] = nil }
    known.withLock { $0[url] = nil }
  }

  public func deleteAll() throws(FeedStoreError) {
    try attempt(.deletion)
    images.withLock { $0 = [:] }
    known.withLock { $0 = [:] }
  }

  public func usage() throws(FeedStoreError) -> ImageStoreUsage {
    try attempt(.retrieval)
    return images.withLock { images in
      ImageStoreUsage(count: images.count, bytes: images.values.reduce(0) { $0 + $1.value.data.bytes.count })
    }
  }

  public func facts(for urls: [URL]) throws(FeedStoreError) -> [URL: ImageFacts] {
    try attempt(.retrieval)
    let wanted = Set(urls)
    return known.withLock { $0.filter { wanted.contains($0.key) } }
  }

  public func note(_ facts: ImageFacts, for url: URL) throws(FeedStoreError) {
    try attempt(.insertion)
    known.withLock { $0[url] = facts }
  }

  private func attempt(_ step: FeedStoreError.Step) throws(FeedStoreError) {
    if let cause = fault(step) { throw FeedStoreError(step, cause, place: "memory") }
  }
}
