import FeedHTTPServer

/// The number of connections that a server of this process may have open: each takes a file descriptor.
enum ConnectionLimit {
  /// Descriptors for the cache, its images and this program's requests, and a reserve.
  private static let spare = 512

  /// Raises the limit of this process as far as it may, if that many connections need it.
  ///
  /// - Returns: how many fit.
  static func raised(upTo most: Int) -> Int {
    guard let left = DescriptorLimit.raise(to: most + spare) else { return HTTPServer.Limits().connections }
    return min(most, max(left - spare, left / 4))
  }
}
