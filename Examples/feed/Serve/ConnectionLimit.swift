import FeedHTTPServer

/// The number of connections that a server in this process may have open, each of which takes a file descriptor.
enum ConnectionLimit {
  /// The descriptors that are kept for the cache, its images, this program's requests, and a reserve.
  private static let spare = 512

  /// Raises the descriptor limit of this process as far as possible, if that many connections need it.
  ///
  /// - Returns: the number of connections that are possible.
  static func raised(upTo most: Int) -> Int {
    guard let left = DescriptorLimit.raise(to: most + spare) else { return HTTPServerLimits().connections }
    return min(most, max(left - spare, left / 4))
  }
}
