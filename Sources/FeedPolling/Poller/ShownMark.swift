import Foundation
import ImageFeed

/// Identifies a shown result without keeping it.
struct ShownMark {
  private let kind: Int
  private let digest: Int
  /// While the feed is failing: the time when its last shown copy was saved.
  private var failedCopy: Date?

  /// - Parameter previous: the mark of the feed's previous result, even if that wasn't shown.
  init(_ result: FeedResult, after previous: ShownMark?) {
    failedCopy = previous?.failedCopy
    switch result {
    case .success(let feed):
      digest = feed.images.hashValue
      switch feed.source {
      case .remote: (kind, failedCopy) = (0, nil)
      case .cache(let savedAt, _, let reason):
        // A cached feed that isn't due counts as coming from the server, unless its last request failed, and nobody
        // has saved the feed since.
        let isFailing = !reason.isNotDue || (previous?.failedCopy.map { savedAt <= $0 } ?? false)
        (kind, failedCopy) = isFailing ? (1, savedAt) : (0, nil)
      case .part: kind = 3
      }
    case .failure(let error):
      digest = "\(error.remote)\(String(describing: error.cache.failure))".hashValue
      kind = 2
    }
  }

  /// True if both results look the same.
  func isSame(as other: ShownMark?) -> Bool { kind == other?.kind && digest == other?.digest }
}
