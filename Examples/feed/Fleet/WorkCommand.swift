import ArgumentParser
import FeedFleet
import FeedRedis
import FeedStream
import Foundation
import ImageFeed
import Logging
import PlainText

/// `feed work`: polls the feeds of a fleet, together with any number of other workers.
struct WorkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "work",
    abstract: "Poll the feeds of a fleet, alongside other workers.",
    discussion: """
      Takes due hosts from the store, polls their feeds, and saves the results in the store. Across the fleet, at most \
      one request per host runs at a time. Prints one line per changed feed. Start any number of workers, on any \
      number of machines. If a worker dies, others take over its hosts when the leases expire (--lease). While the \
      store is unreachable, the worker waits, reports the error on standard error, and loses nothing. On Ctrl-C, it \
      finishes running requests, then exits. To add feeds, use "feed subscriptions import"; to see the fleet's state, use \
      "feed fleet status".
      """)

  @OptionGroup var fleet: FleetOptions

  @Option(help: ArgumentHelp("Maximum number of concurrent requests.", valueName: "count"))
  var concurrency = 64

  @Option(
    help: ArgumentHelp(
      "Number of event loops, each on its own thread, that share the requests; use more if one core is fully loaded.",
      valueName: "count"))
  var loops = 1

  @Option(
    help: ArgumentHelp(
      "Minimum time between requests for a feed, such as 15m; \"auto\" adapts to how often the feed changes. (default: 1h)",
      valueName: "duration"), transform: WatchInterval.init(parsing:))
  var every: WatchInterval?

  @Option(
    help: ArgumentHelp("Minimum pause between requests to the same host. (default: 1s)", valueName: "duration"),
    transform: DurationArgument.init(positive:))
  var gap: DurationArgument?

  @Option(
    help: ArgumentHelp("Time limit for each request. (default: 30s)", valueName: "duration"),
    transform: DurationArgument.init(positive:))
  var timeout: DurationArgument?

  @Option(
    help: ArgumentHelp(
      "How long a host stays leased to a silent worker; at least 2s, and at least --timeout. (default: 45s, or --timeout if longer)",
      valueName: "duration"),
    transform: DurationArgument.init(positive:))
  var lease: DurationArgument?

  @Option(
    help: ArgumentHelp(
      "The OPML file with the feeds' credentials (feed:user, feed:header, feed:netrc). (default: your subscriptions)",
      valueName: "file"), completion: .file())
  var opml: String?

  @OptionGroup var trust: TrustOptions

  @Option(
    help: ArgumentHelp(
      "The worker's name in \"feed fleet status\": one word. (default: the machine's name and two numbers)",
      valueName: "text"))
  var name: String?

  @Option(
    help: ArgumentHelp("Output format for changed feeds: text, or one line of JSON per feed.", valueName: "text|json"))
  var format = OutputFormat.text

  func validate() throws {
    guard (1...10_000).contains(concurrency) else { throw ValidationError("--concurrency must be from 1 to 10000.") }
    guard (1...concurrency).contains(loops) else {
      throw ValidationError("--loops must be from 1 to --concurrency (\(concurrency)).")
    }
    if let name, name.isEmpty || name.contains(where: { $0.isWhitespace }) || name.utf8.count > 100 {
      throw ValidationError("--name must be one word of at most 100 bytes.")
    }
    guard let lease else { return }
    if lease.duration < .seconds(2) { throw ValidationError("--lease must be at least 2s.") }
    let longest = timeout?.duration ?? FeedLoader.Options().timeout
    if lease.duration < longest {
      throw ValidationError(
        "--lease \(lease.duration.text) is shorter than --timeout \(longest.text): another worker could send a request to "
          + "a host while an earlier one is still running. Choose --lease \(longest.text) or longer, or --timeout "
          + "\(lease.duration.text) or shorter."
      )
    }
  }

  func run() throws {
    let list = try opml.map { try SubscriptionFile.list(at: $0) } ?? SubscriptionPlace.file().read()
    let feeds = list?.subscriptions ?? []
    let session = Session(fleet.log)
    feeds.warnOfUnusableCredentials(on: session.console)
    let store = session.fleet(at: fleet.store)
    let terms = WorkLoops.Terms(
      store: fleet.store.address, client: trust.configuration(), feeds: feeds, log: session.log,
      change: change(log: session.log))
    let (trouble, status) = (session.storeReporter(), WorkStatus(session.console))
    let hear = { (event: WorkLoops.Event) in
      switch event {
      case .trouble(let error): trouble(error)
      case .counts(let counts, let worker): status.take(counts, worker: worker)
      case .left: break
      }
    }
    let worker = terms.worker(1, for: store, on: session.loop, hear)
    let others = loops > 1 ? try WorkLoops(loops - 1, terms, on: session.loop, hear) : nil
    if let others { session.keep(others) }
    // Let running requests finish first.
    session.stopping = { [unowned session] done in
      session.console.setStatus("finishing running requests…")
      session.ended = done
      worker.finish()
      others?.finish()
    }
    // Reports are printed one by one, but up to `concurrency` polls still run.
    let reports = worker.buffer(size: worker.concurrency, prefetch: .keepFull, whenFull: .dropNewest)
      .merge(with: others?.reports ?? Empty().eraseToAnyPublisher())
    session.run(reports) { [format, verbose = fleet.log.verbose] report in
      Self.text(of: report, format, all: verbose)
    } ended: { _ in
      session.keep(store.leave(worker, on: session.loop) { session.leave() })
    }
    try session.finish { others?.shutdown() }
  }

  /// The concurrent requests of one of the workers, which are counted from 1: an equal share, or one more.
  static func share(of concurrency: Int, forWorker number: Int, of workers: Int) -> Int {
    concurrency / workers + (number <= concurrency % workers ? 1 : 0)
  }

  /// Applies the arguments to the options of one loop's worker, given its number.
  private func change(log: Logger) -> @Sendable (inout FleetWorker.Options, Int) -> Void {
    let interval = every.map(\.duration)
    let (gap, timeout, lease) = (gap?.duration, timeout?.duration, lease?.duration)
    let name = name ?? FleetWorker.defaultName()
    let (concurrency, loops) = (concurrency, loops)
    return { options, number in
      options.concurrency = Self.share(of: concurrency, forWorker: number, of: loops)
      if let interval { options.interval = interval }
      if let gap { options.gap = gap }
      if let timeout { options.load.timeout = timeout }
      if let lease { options.lease = lease }
      options.name = name
      options.trace = { WorkTrace.follow($0, log) }
    }
  }

  private static func text(of report: FleetWorker.Report, _ format: OutputFormat, all: Bool) -> String {
    guard report.outcome == .changed || all else { return "" }
    let outcome = report.verdict == .lost ? "lost" : report.outcome.rawValue
    switch format {
    case .json:
      let members = [
        "\"url\":\(FeedJSON.quoted(report.address.shown))", "\"outcome\":\(FeedJSON.quoted(outcome))",
        "\"what\":\(FeedJSON.quoted(report.decision?.outcome ?? ""))",
        "\"due\":\(report.decision?.due.map { FeedJSON.quoted($0.stamp) } ?? "null")",
        "\"late\":\((report.lateness / .milliseconds(1)).rounded() / 1000)",
      ]
      return "{\(members.joined(separator: ","))}\n"
    case .text:
      let what = (report.decision?.outcome ?? "").printable(limit: 200)
      return "\(outcome)  \(report.address.shown)  \(what)\n"
    }
  }
}

/// Shows the counts of all of the command's workers.
private final class WorkStatus {
  private let console: Console
  private var counts: [Int: [String: Int]] = [:]

  init(_ console: Console) { self.console = console }

  func take(_ latest: [String: Int], worker: Int) {
    counts[worker] = latest
    let sum = { [counts] (name: String) in counts.values.reduce(0) { $0 + ($1[name] ?? 0) } }
    console.setStatus("\(sum("polls")) polls, \(sum("failures")) failed, \(sum("running")) running")
  }
}
