import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting

/// An application that polls a feed every minute, in a world where everything can fail.
///
/// The real pipeline, the real mapper with real bytes and the real cache policy run on a virtual network, a virtual
/// disk and a virtual clock. The seed determines every event. See ``Oracle`` for the checks.
public final class PollingSimulation {
  private static let address = URL(string: "https://example.com/feed")!
  /// The time that work on the thread pool takes.
  private static let latency: StreamInstant.Stride = .milliseconds(3)

  private let sabotage: Sabotage?
  private let haste: Int
  private let maxAge: Duration
  private let end: StreamInstant
  private let time: VirtualTimeScheduler
  private let clock: WallClock
  private let network: VirtualNetwork
  private let server = ScriptedServer()
  private let oracle: Oracle
  private var disk: VirtualDisk
  private var random: SeededGenerator

  private var subscriptions: [AnyCancellable] = []
  private var isUp = false
  /// The clock of the current process; anything that remains of the process keeps it alive.
  private weak var processClock: ProcessClock?
  /// The number of events until this process crashes.
  private var eventsToLive = 0
  /// The number of processes so far, to distinguish the remains of one process from those of another.
  private var process = 0

  /// - Parameters:
  ///   - seed: determines every event.
  ///   - hours: the number of hours to simulate.
  ///   - maxAge: the age at which saved feeds expire, in seconds.
  ///   - haste: the factor by which faults are more frequent than usual.
  ///   - sabotage: a defect to introduce.
  public init(
    seed: UInt64, hours: Int, maxAge: Int = 604_800, haste: Int = 1,
    sabotage: Sabotage? = nil
  ) {
    self.sabotage = sabotage
    self.haste = haste
    self.maxAge = .seconds(maxAge)
    random = SeededGenerator(seed: seed)
    // The seed also determines the order of events that are due at one instant.
    time = VirtualTimeScheduler(order: .seeded(random.next()))
    end = time.now.advanced(by: .seconds(hours * 3600))
    clock = WallClock(on: time)
    network = VirtualNetwork(on: time, seed: random.next())
    disk = VirtualDisk(on: time, seed: random.next())
    oracle = Oracle(
      time: time, clock: clock, latency: Self.latency,
      report: PollingReport(seed: seed, hours: hours, maxAge: maxAge, haste: haste))
    time.offloadLatency = Self.latency
    disk.keepsLog = false
  }

  /// Simulates to the end, or until a condition fails.
  public func run() -> PollingReport {
    connect()
    misbehave()
    start()
    while time.now < end, oracle.report.violation == nil {
      time.advanceToNextWork()
      oracle.check()
      countEvent()
      if isUp, disk.isDown || eventsToLive <= 0 { crash() }
    }
    finish()
    return oracle.report
  }

  // MARK: The world

  private func connect() {
    server.change(&random)
    network.serve("example.com") { [server] _, random in server.reply(&random) }
    network.observer = { [unowned self] exchange in
      oracle.exchange(exchange, given: server.given)
      countEvent()
      if network.log.count > 100 { network.clearLog() }
    }
    let watcher = DiskWatcher(oracle: oracle)
    disk.setObserver { watcher.oracle.disk($0, latency: Self.latency) }
    disk.setFaults { _, random in
      switch Int.random(in: 0..<5000, using: &random) {
      case 0..<20: .fail(.inputOutput("a fault chosen by the seed"))
      case 20..<25: .corrupt
      case 25: .crash
      default: nil
      }
    }
  }

  // Unchecked because the disk calls its observer on the thread that advances time, which is also the oracle's thread.
  private struct DiskWatcher: @unchecked Sendable { let oracle: Oracle }

  /// Schedules faults that don't depend on a call.
  private func misbehave() {
    again(every: 2 * 3600) { [unowned self] in
      server.change(&random)
      oracle.report.changes += 1
    }
    again(every: 8 * 3600) { [unowned self] in
      let moods: [ScriptedServer.Mood] = [.failing, .confused, .flaky]
      server.mood = Int.random(in: 0..<4, using: &random) > 0 ? .well : moods.randomElement(using: &random)!
    }
    again(every: 20 * 3600) { [unowned self] in outage() }
    again(every: 36 * 3600) { [unowned self] in jump() }
    again(every: 48 * 3600) { [unowned self] in
      disk.capacity = Bool.random(using: &random) ? nil : Int.random(in: 64...400, using: &random)
    }
  }

  /// Repeats `action` at random, every `mean` seconds on average.
  private func again(every mean: Int, _ action: @escaping () -> Void) {
    let wait = StreamInstant.Stride.milliseconds(Int.random(in: 1...(2000 * mean / haste), using: &random))
    let next = time.now.advanced(by: wait)
    guard next < end else { return }
    time.schedule(after: next) { [unowned self] in
      action()
      again(every: mean, action)
    }
  }

  private func outage() {
    let seconds =
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<70: Int.random(in: 30...1800, using: &random)
      case 70..<98: Int.random(in: 3600...(12 * 3600), using: &random)
      default: Int.random(in: 86_400...(10 * 86_400), using: &random)
      }
    let kinds: [HTTPError.Kind] = [.nameResolution, .connect, .tls, .timedOut(.connect)]
    let failure = kinds.randomElement(using: &random)!
    network.fail(Outage(time.now..<time.now.advanced(by: .milliseconds(1000 * seconds / haste)), failure: failure))
    oracle.report.outages += 1
  }

  private func jump() {
    let largest = [240, 7200, 9 * 86_400].randomElement(using: &random)!
    clock.jump(by: Double(Int.random(in: -largest * 1000...largest * 1000, using: &random)) / 1000)
    oracle.report.clockJumps += 1
  }

  // MARK: Processes

  private func start() {
    process += 1
    let process = self.process
    oracle.processBegan(
      finding: disk.committed(for: Self.address), isDamaged: disk.isDamaged(at: Self.address))
    eventsToLive = Int.random(in: 1...(20_000 / haste), using: &random)
    let (saves, deletes) = (sabotage != .savesNothing, sabotage != .keepsExpired)
    let store: any FeedStore = saves && deletes ? disk : LyingStore(store: disk, saves: saves, deletes: deletes)
    let processClock = ProcessClock(wall: clock)
    self.processClock = processClock
    let cache = FeedCache(store: store, on: time, now: { processClock.now })
    var options = FeedLoader.Options()
    options.maxAge = sabotage == .showsExpired ? nil : maxAge
    // With a timeout of 90 seconds, a load may take more than a minute.
    options.timeout = Bool.random(using: &random) ? .seconds(30) : .seconds(90)
    options.report = { [unowned self] error in
      if process == self.process, isUp, sabotage != .hidesFailedSaves { oracle.reported(error) }
    }
    let client: any HTTPClient =
      switch sabotage {
      case .showsOldAnswers: ForgetfulClient(network)
      case .believesErrors: CredulousClient(client: network)
      default: network
      }
    let loader = FeedLoader(Self.address, client: client, cache: cache, on: time, options: options)
    let other =
      sabotage == .twoCaches ? FeedCache(store: disk, on: time, now: { processClock.now }) : cache
    // Validate twice, as an application may do at its start; both calls are made before the first poll.
    for cache in [cache, other] {
      cache.feed(at: Self.address).validate(maxAge: maxAge)
        .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
        .store(in: &subscriptions)
    }
    (sabotage == .neverPolls
      ? Empty(completeImmediately: false).eraseToAnyPublisher() : loader.updates(every: .seconds(60)))
      .sink { [unowned self] result in
        oracle.delivered(result)
        countEvent()
      }
      .store(in: &subscriptions)
    // Allow crashes only from here on, because a crash must be able to release everything that was started.
    isUp = true
  }

  /// Counts down to the crash of this process. The crash may happen in the middle of an event; the rest of that event
  /// then belongs to the old process.
  private func countEvent() {
    guard isUp else { return }
    eventsToLive -= 1
    if eventsToLive == 0 { crash() }
  }

  private func crash() {
    guard isUp else { return }
    isUp = false
    oracle.report.crashes += 1
    oracle.report.note(time.now.nanoseconds, 4)
    disk.crash()
    if sabotage != .staysSubscribed { subscriptions = [] }
    oracle.processEnded()
    let wait = StreamInstant.Stride.milliseconds(Int.random(in: 1000...600_000, using: &random))
    time.schedule(after: time.now.advanced(by: wait)) { [unowned self] in restart() }
  }

  private func restart() {
    guard time.now < end else { return }
    oracle.require(processClock == nil, "an object of the crashed process is still alive")
    disk = disk.restarted()
    if sabotage == .forgetsAtCrash { try? disk.deleteAll() }
    start()
  }

  /// Ends everything and checks that nothing remains.
  private func finish() {
    isUp = false
    subscriptions = []
    oracle.processEnded()
    guard oracle.report.violation == nil else { return }
    time.advance(by: 3600)
    oracle.require(time.pending.isEmpty, "work is left at the end: \(time.pending)")
    oracle.require(network.open.isEmpty, "a request is open at the end")
    oracle.require(processClock == nil, "an object of the last process is still alive")
  }
}
