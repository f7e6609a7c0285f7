import Foundation

/// The number of open descriptors of this process.
func openDescriptors() -> Int {
  (0..<1_024).count { fcntl(Int32($0), F_GETFD) >= 0 }
}

/// Limits the number of open descriptors of this process.
func limitDescriptors(to count: rlim_t) {
  let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  var limit = rlimit()
  precondition(getrlimit(resource, &limit) == 0, "the limit cannot be read")
  limit.rlim_cur = count
  precondition(setrlimit(resource, &limit) == 0, "the limit cannot be set")
}
