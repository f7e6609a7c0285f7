import Foundation

/// The limit on this process's file descriptors (`ulimit -n`).
enum DescriptorLimit {
  /// Raises the soft limit to `wanted`, or as far as the hard limit allows, if it is lower than that.
  ///
  /// - Returns: the new limit; `nil` if it is unknown.
  @discardableResult static func raise(to wanted: Int) -> Int? {
    var limit = rlimit()
    guard getrlimit(.init(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
    if limit.rlim_cur < rlim_t(wanted) {
      var raised = limit
      raised.rlim_cur = min(limit.rlim_max, rlim_t(wanted))
      if setrlimit(.init(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
    }
    return Int(clamping: limit.rlim_cur)
  }
}
