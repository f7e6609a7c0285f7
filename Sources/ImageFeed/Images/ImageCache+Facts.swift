public import FeedStream
public import Foundation

extension ImageCache {
  /// The facts about those of these images that were decoded before.
  ///
  /// **Demand:** read when it is requested. **Failure:** ``FeedStoreError``. **Cancellation:** a read that has not begun is not
  /// begun.
  public func facts(for urls: [URL]) -> AnyPublisher<[URL: ImageFacts], FeedStoreError> {
    let store = store
    return worker.publisher { () throws(FeedStoreError) in try store.facts(for: urls) }.eraseToAnyPublisher()
  }

  /// Begins to keep what is known of an image. That it cannot be kept need not be said: it is found again, and a store that
  /// fails says so when the image itself is saved.
  func note(_ facts: ImageFacts, for url: URL) {
    let store = store
    worker.perform({ () throws(FeedStoreError) in try store.note(facts, for: url) }, completion: { _ in })
  }
}
