/// Stands for what was shown, without keeping it.
struct ShownMark: Equatable {
  private let kind: Int
  private let digest: Int

  init(_ result: FeedResult) {
    switch result {
    case .success(let feed):
      digest = feed.images.hashValue
      // What is not due is as good as the server's.
      if case .cache(_, _, let reason) = feed.source, !reason.isNotDue { kind = 1 } else { kind = 0 }
    case .failure(let error):
      digest = "\(error.remote)\(String(describing: error.cache.failure))".hashValue
      kind = 2
    }
  }
}
