import FeedStream
import Foundation
import ImageFeed

/// One subscription to a ``FleetWorker``.
final class WorkingRun: Subscription {
  let worker: FleetWorker
  private var options: FleetWorker.Options { worker.options }
  let clock: FleetClock
  private var receive: ((FleetWorker.Report) -> Subscribers.Demand)?
  private var finish: (() -> Void)?
  private var demand = Subscribers.Demand.none
  private var held: [String: LeasedPoll] = [:]
  private var claiming: AnyCancellable?
  private var timer: (any Cancellable)?
  private var beating: (timer: any Cancellable, call: AnyCancellable?)?
  /// The calls that end visits, by number, until they complete.
  private var farewells: [Int: AnyCancellable] = [:]
  private var visits = 0
  private var drainTimer: (any Cancellable)?
  private var isDraining = false
  private var failures = 0
  private var isWell = false
  private var random: SplitMix64
  private var counts = ["polls": 0, "failures": 0, "errors": 0]

  init(
    _ worker: FleetWorker, receive: @escaping (FleetWorker.Report) -> Subscribers.Demand, finish: @escaping () -> Void
  ) {
    self.worker = worker
    self.receive = receive
    self.finish = finish
    clock = FleetClock(worker.options.uptime)
    random = SplitMix64(seed: worker.options.seed)
  }

  // MARK: Subscription

  func request(_ demand: Subscribers.Demand) {
    precondition(demand > .none, "FleetWorker: request(.none) requests nothing; request at least one value")
    guard receive != nil else { return }
    self.demand += demand
    if beating == nil { beat() }
    claim()
  }

  func cancel() {
    (receive, finish) = (nil, nil)
    for one in held.values { one.cancel() }
    held = [:]
    claiming = nil
    farewells = [:]
    for one in [timer.take(), drainTimer.take(), beating?.timer] { one?.cancel() }
    beating = nil
  }

  func drain() {
    guard receive != nil, !isDraining else { return }
    isDraining = true
    timer.take()?.cancel()
    let longest = options.load.timeout + GuardedClient.longestWait + .seconds(10)
    drainTimer = worker.scheduler.once(after: .init(longest)) { [weak self] in self?.end() }
    endIfDrained()
  }

  private func endIfDrained() {
    // A running claim may still be granted hosts; their leases expire by themselves.
    if isDraining, held.isEmpty { end() }
  }

  private func end() {
    let finish = self.finish
    cancel()
    finish?()
  }

  // MARK: Claiming

  private func claim() {
    guard receive != nil, !isDraining, claiming == nil, timer == nil, demand > .max(held.count) else { return }
    var count = options.concurrency - held.count
    if let wanted = demand.max { count = min(count, wanted - held.count) }
    guard count > 0 else { return }
    let wish = WorkClaim(
      worker: options.name, count: min(count, 100), lease: options.lease, patience: options.longestSleep)
    let start = options.uptime()
    // An engine that can't be reached may fail within this call.
    var isOver = false
    let call = worker.queue.claim(wish).sink { [weak self] completion in
      isOver = true
      guard let self else { return }
      counts["latency"] = Int((options.uptime() - start) / .microseconds(1))
      claiming = nil
      switch completion {
      case .finished: goOn()
      case .failure(let error): failed(error)
      }
    } receiveValue: { [weak self] grant in
      self?.take(grant, wanted: wish.count)
    }
    if !isOver { claiming = call }
  }

  /// The time until the next claim; `nil` to claim immediately.
  private var sleep: Duration?

  private func take(_ grant: WorkGrant, wanted: Int) {
    recovered()
    for problem in grant.problems where receive != nil { options.report(problem) }
    clock.set(grant.now)
    for lease in grant.leases { begin(lease, at: grant.now) }
    let next = grant.next.map { Duration.seconds(max(0, $0.timeIntervalSince(grant.now))) } ?? options.longestSleep
    // If as many hosts were granted as requested, there may be more.
    sleep =
      grant.leases.count == wanted ? nil : max(.milliseconds(5), grant.wake ?? min(next, options.longestSleep))
  }

  private func goOn() {
    guard let sleep else { return claim() }
    wait(sleep)
  }

  private func wait(_ duration: Duration) {
    guard receive != nil, !isDraining, timer == nil else { return }
    timer = worker.scheduler.once(after: .init(duration)) { [weak self] in
      self?.timer = nil
      self?.claim()
    }
  }

  private func failed(_ error: FleetError) {
    note(error)
    failures += 1
    wait(pause(after: failures))
  }

  func note(_ error: FleetError) {
    isWell = false
    counts["errors", default: 0] += 1
    options.report(error)
  }

  private func recovered() {
    failures = 0
    guard !isWell else { return }
    isWell = true
    options.report(nil)
  }

  func pause(after failures: Int) -> Duration {
    RetryPolicy.between(options.pauses).pause(before: failures - 1, using: &random)
  }

  // MARK: Polling

  private func begin(_ lease: WorkLease, at now: Date) {
    // A report, a trace or the end of one may have cancelled this run.
    guard receive != nil else { return }
    // The worker got the same host again: its earlier lease had expired.
    held[lease.host]?.cancel()
    let one = LeasedPoll(lease, grantedAt: now, in: self, seed: random.next())
    guard receive != nil else { return one.cancel() }
    held[lease.host] = one
    one.begin()
  }

  /// True while this worker holds a lease on the poll's host.
  func holds(_ one: LeasedPoll) -> Bool { held[one.lease.host] === one }

  func deliver(_ report: FleetWorker.Report) {
    counts["polls", default: 0] += 1
    if report.outcome == .failed { counts["failures", default: 0] += 1 }
    demand -= 1
    if let receive { demand += receive(report) }
  }

  /// Frees the other hosts that the poll has leased. A host that isn't freed becomes free when its lease expires.
  func endVisits(of one: LeasedPoll) { endVisits(one.client.end(), with: one.lease) }

  func endVisits(_ hosts: [GuardedClient.Visited], with lease: WorkLease) {
    for visited in hosts {
      let call = worker.queue.endVisit(
        of: visited.host, with: lease, gap: options.gap, pause: visited.pause(gap: options.gap, now: clock.now))
      visits += 1
      let number = visits
      farewells[number] = call.sink { [weak self] _ in
        self?.farewells[number] = nil
      } receiveValue: { _ in
      }
    }
  }

  /// Drops a lease.
  func release(_ one: LeasedPoll) {
    one.cancel()
    endVisits(of: one)
    guard holds(one) else { return }
    held[one.lease.host] = nil
    endIfDrained()
    // There is room again; due hosts are claimed immediately.
    if sleep == nil { claim() }
  }

  // MARK: Heartbeat

  private func beat() {
    guard let tell = options.beat else { return }
    counts["concurrency"] = options.concurrency
    counts["running"] = held.count
    let call = tell(counts).sink { [weak self] in
      // Claims report temporary errors.
      if case .failure(let error) = $0, !error.isTemporary { self?.note(error) }
    } receiveValue: { _ in
    }
    // The heartbeat, or its report, may have cancelled this run.
    guard receive != nil else { return }
    let timer = worker.scheduler.once(after: .seconds(5)) { [weak self] in self?.beat() }
    beating = (timer, call)
  }
}
