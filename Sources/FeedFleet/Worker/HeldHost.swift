import FeedStream

/// A host that this worker has.
final class HeldHost {
  let lease: WorkLease
  let store: LeaseStore
  let client: GuardedClient
  var poll: (any Cancellable)?
  var timer: (any Cancellable)?
  var calls: [AnyCancellable] = []
  var attempts = 0
  var lateness = Duration.zero

  init(_ lease: WorkLease, of worker: FleetWorker) {
    self.lease = lease
    client = GuardedClient(lease, of: worker)
    store = LeaseStore(lease)
  }

  func release() {
    poll?.cancel()
    timer?.cancel()
    (poll, timer, calls) = (nil, nil, [])
  }
}
