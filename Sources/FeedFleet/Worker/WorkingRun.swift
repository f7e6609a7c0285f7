import FeedRedis
import FeedStream
import Foundation
import ImageFeed

/// One subscription to a ``FleetWorker``.
final class WorkingRun: Subscription {
  private let worker: FleetWorker
  private var options: FleetWorker.Options { worker.options }
  private let clock: FleetClock
  private var receive: ((FleetWorker.Report) -> Subscribers.Demand)?
  private var finish: (() -> Void)?
  private var demand = Subscribers.Demand.none
  private var held: [String: HeldHost] = [:]
  private var claiming: AnyCancellable?
  private var timer: (any Cancellable)?
  private var beating: (timer: any Cancellable, call: AnyCancellable?)?
  /// The calls that end visits, by number, until they are done.
  private var farewells: [Int: AnyCancellable] = [:]
  private var visits = 0
  private var drainTimer: (any Cancellable)?
  private var isDraining = false
  private var failures = 0
  private var isWell = false
  private var random: PollRandom
  private var counts = ["polls": 0, "failures": 0, "errors": 0]

  init(
    _ worker: FleetWorker, receive: @escaping (FleetWorker.Report) -> Subscribers.Demand, finish: @escaping () -> Void
  ) {
    self.worker = worker
    self.receive = receive
    self.finish = finish
    clock = FleetClock(worker.options.uptime)
    random = PollRandom(seed: worker.options.seed)
  }

  // MARK: Subscription

  func request(_ demand: Subscribers.Demand) {
    precondition(demand > .none, "FleetWorker: request(.none) asks for nothing; request one or more")
    guard receive != nil else { return }
    self.demand += demand
    if beating == nil { beat() }
    claim()
  }

  func cancel() {
    (receive, finish) = (nil, nil)
    for one in held.values { one.release() }
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
    drainTimer = worker.scheduler.later(options.load.timeout + .seconds(10)) { [weak self] in self?.end() }
    endIfDrained()
  }

  private func endIfDrained() {
    // A claim that is on its way may bring hosts: they come back by themselves.
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
    claiming = worker.queue.claim(wish).sink { [weak self] completion in
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
  }

  /// The time of the next claim; nothing while it is now.
  private var sleep: Duration?

  private func take(_ grant: WorkGrant, wanted: Int) {
    well()
    for problem in grant.problems { options.report(problem) }
    clock.set(grant.now)
    for lease in grant.leases { begin(lease, at: grant.now) }
    let next = grant.next.map { Duration.seconds(max(0, $0.timeIntervalSince(grant.now))) } ?? options.longestSleep
    // As many as were wanted: there may be more.
    sleep =
      grant.leases.count == wanted ? nil : max(.milliseconds(5), grant.wake ?? min(next, options.longestSleep))
  }

  private func goOn() {
    guard let sleep else { return claim() }
    wait(sleep)
  }

  private func wait(_ duration: Duration) {
    guard receive != nil, !isDraining, timer == nil else { return }
    timer = worker.scheduler.later(duration) { [weak self] in
      self?.timer = nil
      self?.claim()
    }
  }

  private func failed(_ error: FleetError) {
    note(error)
    failures += 1
    wait(pause(after: failures))
  }

  private func note(_ error: FleetError) {
    isWell = false
    counts["errors", default: 0] += 1
    options.report(error)
  }

  private func well() {
    failures = 0
    guard !isWell else { return }
    isWell = true
    options.report(nil)
  }

  private func pause(after failures: Int) -> Duration {
    let longest = min(options.pauses.lowerBound * (1 << min(failures - 1, 16)), options.pauses.upperBound)
    return longest * Double.random(in: 0.5...1, using: &random)
  }

  // MARK: Polling

  private func begin(_ lease: WorkLease, at now: Date) {
    // The same host again: its lease was over, and the engine has given it to this worker once more.
    held[lease.host]?.release()
    let one = HeldHost(lease, of: worker)
    one.lateness = .seconds(max(0, now.timeIntervalSince(lease.due)))
    held[lease.host] = one
    let cache = FeedCache(store: one.store, on: worker.scheduler) { [clock] in clock.now }
    var poll = PolledAddress(lease.address, every: options.interval, options: options.load)
    poll.options.retry = .immediate(limit: 0)
    var polling = FeedPoller.Options()
    polling.gap = options.gap
    let poller = FeedPoller(
      [poll], client: one.client, cache: cache, store: one.store, on: worker.scheduler, options: polling)
    one.timer = worker.scheduler.later(options.lease / 2) { [weak self, weak one] in self?.extend(one) }
    let running = FeedPoll(
      of: poll, lease.record.health, host: lease.host, shown: one.store.validators, in: poller,
      PollDesk(one.store, SerialWorker(on: worker.scheduler), on: worker.scheduler), seed: random.next()
    ) { [weak self, weak one] _ in
      guard let self, let one else { return }
      one.timer.take()?.cancel()
      one.calls = []
      polled(one)
    }
    one.poll = running
    running.begin()
  }

  private func extend(_ one: HeldHost?) {
    guard let one, held[one.lease.host] === one else { return }
    one.calls = [
      worker.queue.extend(one.lease, by: options.lease).catch { [weak self] error in
        // It may still be ours: what came of the poll will be refused if it is not.
        self?.note(error)
        return Just(true)
      }
      .sink { [weak self, weak one] isOurs in
        guard let self, let one, held[one.lease.host] === one, one.store.completion(by: "", gap: .zero) == nil else {
          return
        }
        // Another worker asks the host now.
        if !isOurs { return release(one) }
        one.timer = worker.scheduler.later(options.lease / 2) { [weak self, weak one] in self?.extend(one) }
      }
    ]
  }

  private func polled(_ one: HeldHost) {
    endVisits(of: one)
    guard let completion = one.store.completion(by: options.name, gap: options.gap) else { return release(one) }
    complete(one, completion)
  }

  /// Offers what came of a poll until the engine has taken it, or says that it is too late.
  private func complete(_ one: HeldHost, _ completion: WorkCompletion) {
    one.calls = [
      worker.queue.complete(completion).sink { [weak self, weak one] ending in
        guard let self, let one, case .failure(let error) = ending else { return }
        note(error)
        // Somebody may put right what doesn't pass by itself.
        guard error.isTemporary || one.attempts < 5 else { return release(one) }
        one.attempts += 1
        one.timer = worker.scheduler.later(pause(after: one.attempts)) { [weak self, weak one] in
          if let self, let one { complete(one, completion) }
        }
      } receiveValue: { [weak self, weak one] verdict in
        guard let self, let one else { return }
        counts["polls", default: 0] += 1
        if completion.outcome == .failed { counts["failures", default: 0] += 1 }
        let report = FleetWorker.Report(
          address: one.lease.address, host: one.lease.host, outcome: completion.outcome, verdict: verdict,
          lateness: one.lateness, decision: completion.record.decisions.last)
        demand -= 1
        if let receive { demand += receive(report) }
        release(one)
      }
    ]
  }

  /// Gives back the hosts that redirects led to. One that is not given back is free when its lease is over.
  private func endVisits(of one: HeldHost) {
    for call in one.client.end() {
      visits += 1
      let number = visits
      farewells[number] = call.sink { [weak self] _ in
        self?.farewells[number] = nil
      } receiveValue: { _ in
      }
    }
  }

  private func release(_ one: HeldHost) {
    one.release()
    endVisits(of: one)
    guard held[one.lease.host] === one else { return }
    held[one.lease.host] = nil
    endIfDrained()
    // There is room again; what is due is not waited for.
    if sleep == nil { claim() }
  }

  // MARK: Living

  private func beat() {
    guard let tell = options.beat else { return }
    counts["concurrency"] = options.concurrency
    counts["running"] = held.count
    let call = tell(counts).sink { [weak self] in
      // One that passes is a claim's to report.
      if case .failure(let error) = $0, !error.isTemporary { self?.note(error) }
    } receiveValue: { _ in
    }
    let timer = worker.scheduler.later(.seconds(5)) { [weak self] in self?.beat() }
    beating = (timer, call)
  }
}
