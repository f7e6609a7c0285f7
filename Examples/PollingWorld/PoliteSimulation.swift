import FeedHTTP
import FeedPolling
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting

/// The result of a simulation of politeness.
public struct PoliteReport: Sendable, Equatable {
  public var seed: UInt64
  public var days: Int
  /// The requests that broke a rule, at most ten.
  public var faults: [PolitenessScorer.Fault] = []
  /// The first failure on the client's side, such as a failed store.
  public var violation: String?
  public var requests = 0
  public var conditional = 0
  public var bytes = 0
  public var restarts = 0
  public var deliveries = 0
  public var changes = 0
  /// The numbers of requests and bytes for each server.
  public var servers: [String: [Int]] = [:]

  /// The failure and the command that repeats it; `nil` if there was none.
  public var failure: String? {
    guard violation != nil || !faults.isEmpty else { return nil }
    return "seed \(seed): \(violation ?? faults.map(\.description).joined(separator: "\n"))\n"
      + "Repeat it with: swift run -c release year-of-polling --polite --first-seed \(seed) --seeds 1 --days \(days)"
  }
}

/// Polls feeds from servers of every profile while its process is repeatedly killed and restarted, and judges
/// every request.
public final class PoliteSimulation {
  /// A kind of poller, for comparison.
  public enum Client: Sendable {
    /// `FeedPoller`.
    case poller
    /// One `FeedLoader.updates(every:)` for each feed, without validators, as feeds used to be polled.
    case unconditional
  }

  private static let feedsOfEach = 2

  private let client: Client
  private let end: StreamInstant
  private let time: VirtualTimeScheduler
  private let clock: WallClock
  private let network: VirtualNetwork
  private var disk: VirtualDisk
  private let servers = TemperedServer.Temper.allCases.map(TemperedServer.init)
  private let scorer = PolitenessScorer()
  private var random: SeededGenerator
  private var report: PoliteReport
  private var process: [AnyCancellable] = []
  /// The hosts of the last responses whose results aren't saved yet, by URL.
  private var unsaved: [String: String] = [:]
  private var eventsToLive = 0
  /// The feeds that the current process showed last.
  private var shown: [URL: FeedImages] = [:]

  public init(seed: UInt64, days: Int, client: Client = .poller) {
    self.client = client
    random = SeededGenerator(seed: seed)
    time = VirtualTimeScheduler(order: .seeded(random.next()))
    end = time.now.advanced(by: StreamInstant.Stride.seconds(days * 86_400))
    clock = WallClock(on: time)
    network = VirtualNetwork(on: time, seed: random.next())
    disk = VirtualDisk(on: time, seed: random.next())
    report = PoliteReport(seed: seed, days: days)
    time.offloadLatency = .milliseconds(2)
    disk.keepsLog = false
  }

  public func run() -> PoliteReport {
    connect()
    changeFeeds()
    begin()
    while time.now < end, scorer.faults.count < 10, report.violation == nil { time.advanceToNextWork() }
    process = []
    report.faults = client == .poller ? Array(scorer.faults.prefix(10)) : []
    (report.requests, report.conditional, report.bytes) = (scorer.requests, scorer.conditional, scorer.bytes)
    return report
  }

  private var seconds: Double { Double(time.now.nanoseconds) / 1e9 }

  private func connect() {
    for server in servers {
      network.serve(server.host) { [unowned self] request, random in
        server.reply(request.request, at: seconds, wall: clock.now, &random)
      }
    }
    network.observer = { [unowned self] exchange in observe(exchange) }
    if client == .unconditional { scorer.rules = [] }
  }

  private func changeFeeds() {
    for server in servers {
      for number in 0..<Self.feedsOfEach { changeLater(server, number) }
    }
  }

  private func changeLater(_ server: TemperedServer, _ number: Int) {
    let wait = Int.random(in: 3600...(2 * 86_400), using: &random)
    time.schedule(after: time.now.advanced(by: StreamInstant.Stride.seconds(wait))) { [unowned self] in
      server.change(number)
      report.changes += 1
      if time.now < end { changeLater(server, number) }
    }
  }

  // MARK: What the servers see

  private func observe(_ exchange: VirtualExchange) {
    let url = exchange.request.url
    func field(_ name: String) -> String? { exchange.request.headers.last { $0.name == name }?.value }
    let request = PolitenessScorer.Request(
      url: url.absoluteString, host: url.host() ?? "", etag: field("If-None-Match"),
      lastModified: field("If-Modified-Since"))
    countEvent()
    guard let ending = exchange.ending else {
      report.servers[request.host, default: [0, 0]][0] += 1
      return scorer.asked(request, at: seconds)
    }
    if case .failed(let error) = ending, error.kind == .connect { return scorer.neverArrived(request) }
    var answer: PolitenessScorer.Answer?
    if case .answered(let response) = ending {
      let isPause = response.status == 429 || response.status == 503
      let pause = isPause ? AnswerFacts.retryAfter(response.headers, now: clock.now) ?? .seconds(600) : nil
      answer = PolitenessScorer.Answer(
        status: response.status, etag: response.headers["ETag"], lastModified: response.headers["Last-Modified"],
        pause: pause.map { $0 / .seconds(1) }, bytes: response.body.count)
      report.servers[request.host, default: [0, 0]][1] += response.body.count
      unsaved[request.url] = request.host
    }
    scorer.ended(request, answer, at: seconds)
    if network.log.count > 200 { network.clearLog() }
  }

  // MARK: Processes

  private func begin() {
    eventsToLive = Int.random(in: 1...2000, using: &random)
    let clock = clock
    let cache = FeedCache(store: disk, on: time, now: { clock.now })
    switch client {
    case .poller:
      var options = FeedPoller.Options()
      options.seed = random.next()
      options.onDecision = { [unowned self] address, _ in unsaved[address.absoluteString] = nil }
      // Ignore errors of a killed process, whose last notes are lost.
      options.report = { [unowned self, number = report.restarts] in
        if number == report.restarts, !disk.isDown { report.violation = "the store failed: \($0)" }
      }
      let feeds = servers.flatMap { server in (0..<Self.feedsOfEach).map { PolledAddress(server.address($0)) } }
      let poller = FeedPoller(
        feeds, client: network, cache: cache, store: disk, on: time, options: options)
      poller.sink { [unowned self] in delivered($0) }.store(in: &process)
    case .unconditional:
      for server in servers {
        for number in 0..<Self.feedsOfEach {
          FeedLoader(server.address(number), client: Forgetful(client: network), cache: cache, on: time)
            .updates(every: PolledAddress.defaultInterval)
            .sink { [unowned self] _ in report.deliveries += 1 }
            .store(in: &process)
        }
      }
    }
  }

  private func delivered(_ polled: FeedReport) {
    report.deliveries += 1
    guard case .success(let feed) = polled.result else { return }
    // A process must show a server's response only once.
    if feed.source.isRemote, shown[polled.address] == feed.images, isSettled(polled.address) {
      report.violation = "a response from \(polled.address) was shown twice"
    }
    shown[polled.address] = feed.images
  }

  /// True for servers that never fail between successful responses; for other servers, the same feed after an error
  /// counts as a change.
  private func isSettled(_ address: URL) -> Bool {
    ["tagged", "dated", "restless", "fresh", "expiring", "scheduled", "plain"].contains {
      address.host() == "\($0).example"
    }
  }

  /// Counts down to the moment when the process is killed; the next one starts seconds or hours later.
  private func countEvent() {
    guard client == .poller else { return }
    eventsToLive -= 1
    guard eventsToLive == 0 else { return }
    time.schedule { [unowned self] in kill() }
  }

  private func kill() {
    disk.crash()
    process = []
    report.restarts += 1
    for (url, host) in unsaved { scorer.lost(url, of: host) }
    unsaved = [:]
    shown = [:]
    disk = disk.restarted()
    let wait = [1, 60, 3600, 86_400].randomElement(using: &random)!
    time.schedule(after: time.now.advanced(by: StreamInstant.Stride.seconds(Int.random(in: 1...wait, using: &random))))
    {
      [unowned self] in
      guard time.now < end else { return }
      scorer.restarted(at: seconds)
      begin()
    }
  }
}

/// Makes every request unconditional.
private struct Forgetful: HTTPClient {
  let client: any HTTPClient

  func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    var request = request
    request.headers = []
    return client.get(request)
  }
}
