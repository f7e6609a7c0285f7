public import FeedStream
public import Foundation

extension ImageCache {
  /// The known facts about these images, from earlier decoding.
  ///
  /// **Demand:** reads when a value is requested. **Failure:** ``FeedStoreError``. **Cancellation:** prevents a read
  /// that has not begun.
  public func facts(for urls: [URL]) -> AnyPublisher<[URL: ImageFacts], FeedStoreError> {
    let store = store
    return worker.publisher { () throws(FeedStoreError) in try store.facts(for: urls) }.eraseToAnyPublisher()
  }

  /// Saves the facts about an image. A failure needn't be reported, because the facts are determined again, and a
  /// failing store reports its error when the image itself is saved.
  func note(_ facts: ImageFacts, for url: URL) {
    let store = store
    worker.perform({ () throws(FeedStoreError) in try store.note(facts, for: url) }, completion: { _ in })
  }
}
