public import FeedHTTP
public import FeedStream
public import Foundation
public import ImageFeed

/// Polls what a ``WorkQueue`` hands out, alongside any number of other workers.
///
///     let fleet = RedisFleet(RedisClient(address, on: loop))
///     let worker = FleetWorker(fleet, client: CurlHTTPClient(on: loop), on: loop)
///     let subscription = worker.sink { print($0.address, $0.outcome) }
///
/// Each poll is one of `FeedPoller`'s, with the same rules; what came of it is completed with the engine in one step.
/// While the engine is unreachable, running polls end, and their results are offered until their hosts are another worker's;
/// nothing is claimed, and attempts are further and further apart.
///
/// Delivers a report of each poll. **Demand:** a host is claimed only when a report is wanted. **Failure:** none: what fails
/// is reported (``Options/report``). Finishes after ``finish()``, when everything that runs has been completed.
/// **Cancellation:** closes the requests that run; their hosts come back when the leases are over.
public final class FleetWorker {
  /// Options; each has a default.
  public struct Options {
    /// The name that status shows. The machine's, with the process' number, by default.
    public var name = FleetWorker.defaultName()
    /// The number of requests that run at a time. 64 by default.
    public var concurrency = 64
    /// How long a host is taken for; kept for longer while a request runs. 45 seconds by default, and never shorter than a
    /// request may take (``load``): its host would be another worker's before it ends.
    public var lease: Duration {
      get { Swift.max(wantedLease, load.timeout) }
      set { wantedLease = newValue }
    }
    private var wantedLease = Duration.seconds(45)
    /// The pause of a host after a request. A second by default.
    public var gap: Duration = .seconds(1)
    /// The least interval between two polls of a feed; `nil` adapts to how often it changes. An hour by default.
    public var interval: Duration? = PolledAddress.defaultInterval
    /// How long a fleet whose workers are idle may leave what was added unnoticed: they look by turns. A second by default.
    public var longestSleep: Duration = .seconds(1)
    /// The pause after a failure of the engine, doubled by each further one, and the longest. Half a second and ten by default.
    public var pauses: ClosedRange<Duration> = .milliseconds(500)...(.seconds(10))
    /// The options with which feeds are loaded.
    public var load = FeedLoader.Options()
    /// A clock that nobody sets; only its pace counts, the time is the engine's. The machine's by default.
    public var uptime: @Sendable () -> Duration = { MachineTime.now }
    /// Determines how due times are spread. The system's choice by default.
    public var seed = UInt64.random(in: 0 ... .max)
    /// Is given each failure of the engine, and `nil` when it is well: after the first claim, and after failures. The worker tries
    /// again after any failure. Does nothing by default.
    public var report: (FleetError?) -> Void = { _ in }
    /// Receives this worker's state every five seconds; `nil` for no report.
    public var beat: (([String: Int]) -> AnyPublisher<Void, FleetError>)?

    public init() {}
  }

  /// One poll.
  public struct Report: Hashable, Sendable {
    public var address: URL
    public var host: String
    public var outcome: WorkCompletion.Outcome
    public var verdict: WorkVerdict
    /// The time from when it was due, and its host was free, until it was claimed.
    public var lateness: Duration
    public var decision: PollDecision?
  }

  let queue: any WorkQueue
  let client: any HTTPClient
  let scheduler: any LoopScheduler
  let options: Options
  /// The name that status shows.
  public var name: String { options.name }
  private weak var run: WorkingRun?

  /// - Parameter scheduler: an event loop, or virtual time in a test.
  public init(
    _ queue: any WorkQueue, client: any HTTPClient, on scheduler: any LoopScheduler, options: Options = Options()
  ) {
    precondition(options.concurrency > 0, "FleetWorker: no request may run; allow one or more")
    self.queue = queue
    self.client = client
    self.scheduler = scheduler
    self.options = options
  }

  /// Claims nothing more, and finishes when what runs is completed. When the engine is away, that is not waited for longer than
  /// ten seconds.
  public func finish() { run?.drain() }

  public static func defaultName() -> String {
    let host = ProcessInfo.processInfo.hostName.prefix { $0 != "." && !$0.isWhitespace }.prefix(40)
    return "\(host)-\(ProcessInfo.processInfo.processIdentifier)-\(UInt16.random(in: 0 ... .max))"
  }
}

extension FleetWorker: Publisher {
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
