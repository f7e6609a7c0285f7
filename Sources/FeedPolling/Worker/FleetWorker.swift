public import FeedHTTP
public import FeedStream
public import Foundation
public import ImageFeed

/// Polls the feeds that a ``WorkQueue`` assigns, alongside any number of other workers.
///
///     let fleet = RedisFleet(RedisClient(address, on: loop))
///     let worker = FleetWorker(fleet, client: CurlHTTPClient(on: loop), on: loop)
///     let subscription = worker.sink { print($0.address, $0.outcome) }
///
/// Each poll works like those of `FeedPoller`, with the same rules; the engine completes it in one step. While the
/// engine is unreachable, running polls complete, and the worker keeps trying to send their results until another
/// worker takes over their hosts. Meanwhile, this worker gets no new hosts: it retries its claim, after a longer pause
/// each time.
///
/// Delivers a report of each poll. **Demand:** a host is claimed only when a report is requested. **Failure:** none:
/// failures are reported (``Options/report``). Finishes after ``finish()``, when all running polls have been completed.
/// **Cancellation:** cancels running requests; their hosts become free when the leases expire.
public final class FleetWorker {
  /// Options; each has a default.
  public struct Options {
    /// The name that `fleet status` shows: one word. By default, the machine's name and two numbers.
    public var name = FleetWorker.defaultName()
    /// The maximum number of concurrent requests. 64 by default.
    public var concurrency = 64
    /// The duration of a lease, which is extended while a request runs. 45 seconds by default, and never shorter than
    /// the time that a request may take (``load``). Otherwise, another worker could get the host before the request
    /// ends.
    public var lease: Duration {
      get { Swift.max(wantedLease, load.timeout) }
      set { wantedLease = newValue }
    }
    private var wantedLease = Duration.seconds(45)
    /// A host's pause after a request. One second by default.
    public var gap: Duration = .seconds(1)
    /// The minimum interval between two polls of a feed; `nil` to adapt to how often it changes. One hour by default.
    public var interval: Duration? = PolledAddress.defaultInterval
    /// The time within which idle workers notice added feeds; they take turns checking. One second by default.
    public var longestSleep: Duration = .seconds(1)
    /// The pause after a failure of the engine, which is doubled after each further failure, and the maximum pause.
    /// Half a second and ten seconds by default.
    public var pauses: ClosedRange<Duration> = .milliseconds(500)...(.seconds(10))
    /// The options for loading feeds. Their `retry` has no effect: ``Schedule`` sets the time of the next poll.
    public var load = FeedLoader.Options()
    /// A clock that can't be set, for measuring elapsed time; the time itself comes from the engine. The machine's
    /// clock by default.
    public var uptime: @Sendable () -> Duration = { MachineTime.now }
    /// Determines how due times are spread; chosen by the system by default.
    public var seed = UInt64.random(in: 0 ... .max)
    /// Receives each failure of the engine. Receives `nil` after the first claim, and when the engine works again after
    /// failures. The worker tries again after any failure, but gives up a poll's result after a few attempts if the
    /// failure isn't temporary. Does nothing by default.
    public var report: (FleetError?) -> Void = { _ in }
    /// Receives this worker's state every five seconds; `nil` to report nothing.
    public var beat: (([String: Int]) -> AnyPublisher<Void, FleetError>)?
    /// Returns the trace that follows a poll. By default, polls aren't traced.
    public var trace: (WorkLease) -> PollTrace? = { _ in nil }

    public init() {}
  }

  /// A report of one poll.
  public struct Report: Hashable, Sendable {
    public var address: URL
    public var host: String
    public var outcome: PollOutcome
    public var verdict: WorkVerdict
    /// The time from the moment when the feed was due and its host was free until the feed was claimed.
    public var lateness: Duration
    public var decision: PollDecision?
  }

  let queue: any WorkQueue
  let client: any HTTPClient
  let scheduler: any LoopScheduler
  let options: Options
  /// The worker's name, which `fleet status` shows.
  public var name: String { options.name }
  package var concurrency: Int { options.concurrency }
  private weak var run: WorkingRun?

  /// - Parameter scheduler: an event loop, or virtual time in a test.
  public init(
    _ queue: any WorkQueue, client: any HTTPClient, on scheduler: any LoopScheduler, options: Options = Options()
  ) {
    precondition(
      options.concurrency > 0,
      "FleetWorker: concurrency is \(options.concurrency), so no request could run; use 1 or more")
    // A lease is text, in which the worker's name is a word.
    precondition(
      !options.name.isEmpty && !options.name.contains(where: \.isWhitespace),
      "FleetWorker: the name \"\(options.name)\" isn't one word; leave out the spaces")
    self.queue = queue
    self.client = client
    self.scheduler = scheduler
    self.options = options
  }

  /// Stops claiming hosts, and finishes when all running polls are completed. Even if the engine is unreachable, the
  /// worker finishes within the time limit of a load plus seventy seconds: a poll may wait for a minute for another
  /// host.
  public func finish() { run?.drain() }

  public static func defaultName() -> String {
    let host = ProcessInfo.processInfo.hostName.prefix { $0 != "." && !$0.isWhitespace }.prefix(40)
    return "\(host)-\(ProcessInfo.processInfo.processIdentifier)-\(UInt16.random(in: 0 ... .max))"
  }
}

extension FleetWorker: Publisher, _DeliversAtHome {
  public typealias Output = Report
  public typealias Failure = Never

  public func receive<S: Subscriber>(subscriber: S) where S.Input == Report, S.Failure == Never {
    let run = WorkingRun(self) {
      subscriber.receive($0)
    } finish: {
      subscriber.receive(completion: .finished)
    }
    self.run = run
    subscriber.receive(subscription: run)
  }
}
