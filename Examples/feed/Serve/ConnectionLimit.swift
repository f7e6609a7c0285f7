import FeedHTTPServer
import Foundation

/// How many connections a server of this process may have open: each takes a file descriptor.
enum ConnectionLimit {
  /// What the cache, its pictures and requests of this program take, and a reserve.
  private static let spare = 512

  /// Raises the limit of this process as far as it may, if that is needed for so many connections.
  ///
  /// - Returns: how many fit.
  static func raised(upTo most: Int) -> Int {
    var limit = rlimit()
    guard getrlimit(.init(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return HTTPServer.Limits().connections }
    let wanted = rlim_t(most + spare)
    if limit.rlim_cur < wanted {
      var raised = limit
      raised.rlim_cur = min(limit.rlim_max, wanted)
      if setrlimit(.init(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
    }
    let left = Int(clamping: limit.rlim_cur)
    return min(most, max(left - spare, left / 4))
  }
}
