import ImageFeed

/// Identifies a shown result without keeping it.
struct ShownMark: Equatable {
  private let kind: Int
  private let digest: Int

  init(_ result: FeedResult) {
    switch result {
    case .success(let feed):
      digest = feed.images.hashValue
      // A cached feed that isn't due counts as coming from the server.
      kind =
        switch feed.source {
        case .cache(_, _, let reason) where !reason.isNotDue: 1
        case .remote, .cache: 0
        case .part: 3
        }
    case .failure(let error):
      digest = "\(error.remote)\(String(describing: error.cache.failure))".hashValue
      kind = 2
    }
  }
}
