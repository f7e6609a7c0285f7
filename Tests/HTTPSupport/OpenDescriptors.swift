import Foundation

/// How many descriptors this process has open.
func openDescriptors() -> Int {
  (0..<1_024).count { fcntl(Int32($0), F_GETFD) >= 0 }
}

/// Limits how many descriptors this process may have open.
func limitDescriptors(to count: rlim_t) {
  let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  var limit = rlimit()
  precondition(getrlimit(resource, &limit) == 0, "the limit cannot be read")
  limit.rlim_cur = count
  precondition(setrlimit(resource, &limit) == 0, "the limit cannot be set")
}
