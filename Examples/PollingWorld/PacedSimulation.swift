import FeedHTTP
import FeedPolling
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting

/// The requests to one host with many feeds, and the duration of each round.
public struct PacedReport: Sendable, Equatable {
  public var requests = 0
  public var refusals = 0
  public var bytes = 0
  /// The number of seconds from the first request until every feed had arrived once; `nil` if one never did.
  public var firstRound: Double?
  /// The longest time, in seconds, that the host took to accept as many requests as it has feeds. The first day isn't
  /// counted.
  public var longestRound = 0.0
}

/// Polls many feeds on one host, which accepts one request per `pace` seconds, in virtual time.
public final class PacedSimulation {
  /// The way the host refuses further requests.
  public enum Manner: String, Sendable, CaseIterable {
    /// Status 429, and nothing else.
    case silent
    /// Status 429 with `Retry-After`.
    case retryAfter
    /// Each response says how many requests are left (`RateLimit`).
    case stated
  }

  private let manner: Manner
  private let pace: Double
  private let feeds: [URL]
  private let time: VirtualTimeScheduler
  private let clock: WallClock
  private let network: VirtualNetwork
  private let disk: VirtualDisk
  private let learns: Bool
  private var report = PacedReport()
  private var accepted: [Double] = []
  private var arrived: Set<URL> = []
  private var opens = -Double.infinity

  /// - Parameters:
  ///   - pace: the number of seconds per accepted request.
  ///   - learns: false for a poller that forgets learned paces.
  public init(_ manner: Manner, feeds count: Int = 60, pace: Double = 61, learns: Bool = true, seed: UInt64 = 1) {
    self.manner = manner
    self.pace = pace
    self.learns = learns
    feeds = (0..<count).map { URL(string: "https://paced.example/feed/\($0)")! }
    var random = SeededGenerator(seed: seed)
    time = VirtualTimeScheduler(order: .seeded(random.next()))
    clock = WallClock(on: time)
    network = VirtualNetwork(on: time, seed: random.next())
    disk = VirtualDisk(on: time, seed: random.next())
    disk.keepsLog = false
    time.offloadLatency = .milliseconds(2)
  }

  private var seconds: Double { Double(time.now.nanoseconds) / 1e9 }

  /// - Parameter interval: the interval of each feed.
  public func run(hours: Int, every interval: Duration = PolledAddress.defaultInterval) -> PacedReport {
    network.serve("paced.example") { [unowned self] request, random in reply(request.request, &random) }
    network.observer = { [unowned self] _ in if network.log.count > 200 { network.clearLog() } }
    let (clock, disk) = (clock, disk)
    let cache = FeedCache(store: disk, on: time, now: { clock.now })
    var options = FeedPoller.Options()
    options.seed = 7
    let store: any PollStore = learns ? disk : ForgetfulStore(store: disk, gap: options.gap)
    let poller = FeedPoller(
      feeds.map { PolledAddress($0, every: interval) }, client: network, cache: cache, store: store, on: time,
      options: options)
    let subscription = poller.sink { _ in }
    let end = time.now.advanced(by: StreamInstant.Stride.seconds(hours * 3600))
    while time.now < end { time.advanceToNextWork() }
    subscription.cancel()
    let settled = accepted.filter { $0 > 86_400 }
    report.longestRound = zip(settled, settled.dropFirst(feeds.count)).map { $1 - $0 }.max() ?? 0
    return report
  }

  private func reply(_ request: HTTPRequest, _ random: inout SeededGenerator) -> VirtualReply {
    report.requests += 1
    let (now, latency) = (seconds, StreamInstant.Stride.milliseconds(Int.random(in: 20...300, using: &random)))
    guard now >= opens else {
      report.refusals += 1
      let wait = Int((opens - now).rounded(.up))
      return .answer(
        status: 429, headers: manner == .retryAfter ? [("Retry-After", "\(wait)")] : [], Data(), after: latency)
    }
    opens = now + pace
    accepted.append(now)
    if arrived.insert(request.url).inserted, arrived.count == feeds.count { report.firstRound = now }
    var headers: [(name: String, value: String)] = [("ETag", "\"1\"")]
    if manner == .stated {
      headers += [
        ("RateLimit-Policy", "\"feeds\";q=1;w=\(Int(pace))"),
        ("RateLimit", "\"feeds\";r=0;t=\(Int(pace.rounded(.up)))"),
      ]
    }
    let isSame = request.headers.contains { $0.name == "If-None-Match" }
    let body = isSame ? Data() : Self.body(of: request.url)
    report.bytes += body.count
    return .answer(status: isSame ? 304 : 200, headers: HTTPHeaders(headers), body, after: latency)
  }

  private static func body(of url: URL) -> Data {
    let items = (0..<10).map { index in
      """
      <item><guid>\(index)</guid><title>Item \(index)</title>
      <enclosure url="\(url.absoluteString)/\(index).jpg" type="image/jpeg" length="1"/></item>
      """
    }
    return Data("<rss version=\"2.0\"><channel><title>A feed</title>\(items.joined())</channel></rss>".utf8)
  }
}

/// A store that doesn't keep paces.
private struct ForgetfulStore: PollStore {
  let store: any PollStore
  let gap: Duration

  func health(of addresses: [URL]) throws(FeedStoreError) -> [FeedHealth?] { try store.health(of: addresses) }
  func health(ofHost name: String) throws(FeedStoreError) -> HostHealth? { try store.health(ofHost: name) }
  func decisions(for address: URL) throws(FeedStoreError) -> [PollDecision] { try store.decisions(for: address) }

  func carryOut(_ works: [PollWork]) -> [Result<PollAnswer, FeedStoreError>] {
    store.carryOut(
      works.map { work in
        guard case .completion(var completion) = work else { return work }
        completion.record = { [record = completion.record, gap, now = completion.now] replacement in
          var record = record(replacement)
          (record.host.pace, record.host.next) = (nil, now + gap / .seconds(1))
          if record.host.reason.contains("RateLimit") { record.host.pausedUntil = nil }
          return record
        }
        return .completion(completion)
      })
  }
}
