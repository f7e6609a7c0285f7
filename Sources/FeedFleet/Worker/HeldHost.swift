import FeedStream

/// A host that this worker has.
final class HeldHost {
  let lease: WorkLease
  let store: LeaseStore
  var poll: (any Cancellable)?
  var timer: (any Cancellable)?
  var calls: [AnyCancellable] = []
  var attempts = 0
  var lateness = Duration.zero

  init(_ lease: WorkLease) {
    self.lease = lease
    store = LeaseStore(lease)
  }

  func release() {
    poll?.cancel()
    timer?.cancel()
    (poll, timer, calls) = (nil, nil, [])
  }
}
