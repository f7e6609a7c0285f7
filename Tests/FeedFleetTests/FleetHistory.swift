import FeedFleet
import FeedRedis
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

/// A random history of workers, a gateway and an engine, with faults.
final class FleetHistory {
  enum Fault: CaseIterable { case death, outage, skew, failover, pause, trim, list, gateway, refusal, loss, step }

  private static let interval = 600.0
  private static let place = RedisAddress(.unix(path: "/engine"))
  private let time: VirtualTimeScheduler
  private let network: VirtualNetwork
  private let engine: MemoryFleet
  private let faults: Set<Fault>
  private let seed: UInt64
  private var random: SeededGenerator
  private var workers: [(worker: FleetWorker, subscription: AnyCancellable)] = []
  private var gateways: [FleetGateway] = []
  private var clients: [GatewayClient] = []
  /// The number of open requests per host, and the time when its last request ended.
  private var open: [String: Int] = [:]
  private var ended: [String: Double] = [:]
  private var versions: [URL: FeedVersion] = [:]
  /// The time from which politeness is checked again: after a failover, two workers may have a host until the earlier
  /// leases expire.
  private var politeFrom = 0.0
  /// The time by which the current engine's clock is ahead.
  private let ahead = Ahead()
  /// The times until which the engine randomly refuses calls, and loses replies.
  private var (refusesUntil, losesUntil) = (-1.0, -1.0)
  private var asked: [URL: Double] = [:]
  private var changes: [URL: Int] = [:]
  private var addresses: [URL] = []
  /// The feeds that the gateways show: all, or in every other history, half of them.
  private var shown: [URL] = []
  private var isCalm = false
  /// The period in which each paused host must not be requested.
  private var paused: [String: (from: Double, until: Double)] = [:]

  init(seed: UInt64, faults: Set<Fault>) {
    self.seed = seed
    self.faults = faults
    random = SeededGenerator(seed: seed)
    time = VirtualTimeScheduler()
    time.offloadLatency = .milliseconds(1)
    let time = time
    network = VirtualNetwork(on: time, seed: seed)
    let ahead = ahead
    engine = MemoryFleet(on: time, latency: .milliseconds(2)) { Self.wall(time) + ahead.value }
    engine.refusal = { [unowned self] in seconds < refusesUntil && random.next() % 10 < 3 ? refusal() : nil }
    engine.loss = { [unowned self] in
      seconds < losesUntil && random.next() % 10 < 2 ? .redis(.closed(Self.place)) : nil
    }
    network.observer = { [unowned self] in note($0) }
    let shapes: [[Int]] = [[1, 1, 2, 9], [1, 3, 5], [12], [1, 1, 1, 1, 2, 2]]
    let shape = shapes[Int.random(in: 0..<shapes.count, using: &random)]
    for host in shape.indices {
      let feeds = shape[host]
      let name = "h\(host).example"
      for feed in 0..<feeds { addresses.append(URL(feed: feed, host: name)) }
      network.serve(name) { [unowned self] request, random in
        asked[request.request.url] = seconds
        // Some feeds change, some requests fail, and some are slow.
        guard !isCalm else { return .feed(images(of: request.request.url)) }
        switch Int.random(in: 0..<20, using: &random) {
        case 0: return .drop()
        case 1: return .answer(status: 503, headers: [], Data())
        case 2: return .feed(images(of: request.request.url), after: .seconds(20))
        default:
          if Bool.random(using: &random) { changes[request.request.url, default: 0] += 1 }
          return .feed(images(of: request.request.url))
        }
      }
    }
    // Hosts that have moved: their feeds are at the first host, to which several hosts may redirect.
    for host in 0..<Int.random(in: 0...3, using: &random) {
      let name = "moved\(host).example"
      addresses.append(URL(feed: 100 + host, host: name))
      network.serve(name) { [unowned self] request, _ in
        asked[request.request.url] = seconds
        let target = URL(feed: 100 + host, host: "h0.example").absoluteString
        return .answer(status: 302, headers: [("Location", target)], Data())
      }
    }
    shown = addresses.enumerated().filter { seed % 2 == 1 || $0.offset % 2 == 0 }.map(\.element)
  }

  private static func wall(_ time: VirtualTimeScheduler) -> Date {
    Date(timeIntervalSince1970: 1_800_000_000 + Double(time.now.nanoseconds) / 1e9)
  }
  private var seconds: Double { Double(time.now.nanoseconds) / 1e9 }

  private func images(of url: URL) -> [FeedImage] {
    let number = changes[url, default: 0]
    return [FeedImage(id: UUID(uuidString: String(format: "00000000-0000-0000-0000-%012d", number))!, url: url)]
  }

  // MARK: What must hold

  private func note(_ exchange: VirtualExchange) {
    let host = exchange.request.url.host()!
    if exchange.ended == nil {
      if let pause = paused[host] {
        // A request that was granted before the pause may be sent a moment later.
        expect(!(pause.from + 0.1..<pause.until ~= seconds), "\(host) was asked during its pause")
      }
      if seconds > politeFrom {
        expect(open[host, default: 0] == 0, "two requests to \(host) at a time")
        // After the engine's clock was set, the fleet's time runs a tenth faster until it agrees.
        let gap = faults.contains(.step) ? 0.9 : 0.999
        expect(seconds >= ended[host, default: -10] + gap, "\(host) is asked again too soon")
      }
      open[host, default: 0] += 1
    } else {
      open[host, default: 0] -= 1
      ended[host] = seconds
    }
  }

  private func expect(_ condition: Bool, _ what: @autoclosure () -> String) {
    if !condition { Issue.record("seed \(seed), second \(Int(seconds)), \(faults): \(what())") }
  }

  private func look() {
    for (address, version) in engine.state.versions {
      if let before = versions[address] { expect(version >= before, "\(address) went back") }
      versions[address] = version
    }
  }

  // MARK: What happens

  private func startWorker() {
    var options = FleetWorker.Options()
    options.name = "w\(workers.count)"
    options.concurrency = 4
    options.interval = .seconds(Self.interval)
    // With a shorter sleep, most of a history would be the claims of idle workers.
    options.longestSleep = .seconds(15)
    options.seed = random.next()
    let isSkewed = faults.contains(.skew)
    let clock = SkewedClock(
      time, ahead: isSkewed ? .random(in: -86_400...86_400, using: &random) : 0,
      pace: isSkewed ? .random(in: 0.9999...1.0001, using: &random) : 1)
    options.uptime = { clock.now }
    let worker = FleetWorker(engine, client: network, on: time, options: options)
    workers.append((worker, worker.sink { _ in }))
  }

  private func startGateway() -> FleetGateway {
    let wanted = shown.count < addresses.count ? shown : nil
    return FleetGateway(FleetFollower(wanted, in: engine, seed: random.next(), on: time), on: time) { [unowned self] in
      expect(false, $0)
    }
  }

  private func call<Value>(_ publisher: AnyPublisher<Value, FleetError>) {
    let call = publisher.sink { _ in
    } receiveValue: { _ in
    }
    _ = time.once(after: .seconds(1)) { call.cancel() }
  }

  private func misfortune() {
    guard let fault = faults.sorted(by: { "\($0)" < "\($1)" }).randomElement(using: &random) else { return }
    switch fault {
    case .death: killWorker()
    case .outage:
      engine.outage = .redis(.closed(Self.place))
      let length = Double.random(in: 1...120, using: &random)
      _ = time.once(after: .seconds(length)) { [self] in engine.outage = nil }
    case .failover:
      let old = engine.state
      let lost = Double.random(in: 0.1...5, using: &random)
      _ = time.once(after: .seconds(lost)) { [self] in
        engine.outage = .redis(.closed(Self.place))
        engine.state = old
        // Another machine, with its own clock.
        ahead.value = Double.random(in: -3...3, using: &random)
        versions = old.versions
        paused = [:]
        // Earlier leases may be granted again, so wait for as long as a request may take.
        politeFrom = seconds + 60
        _ = time.once(after: .seconds(1)) { [self] in engine.outage = nil }
      }
    case .pause: pauseHost()
    case .trim: engine.trim(to: 2)
    case .list: changeList()
    case .gateway:
      let number = Int.random(in: 0..<gateways.count, using: &random)
      if Bool.random(using: &random) {
        gateways[number].isStopped.toggle()
      } else {
        gateways[number].end()
        gateways[number] = startGateway()
      }
    case .refusal: refusesUntil = seconds + Double.random(in: 1...60, using: &random)
    case .loss: losesUntil = seconds + Double.random(in: 1...60, using: &random)
    case .step:
      let steps = [3.0, 60, 3600, 86_400].flatMap { [$0, -$0] }
      ahead.value += steps.randomElement(using: &random)! * Double.random(in: 0.9...1, using: &random)
    case .skew: break
    }
  }

  /// Kills a worker with its requests; no other worker gets its hosts until its leases expire.
  private func killWorker() {
    workers.remove(at: Int.random(in: 0..<workers.count, using: &random)).subscription.cancel()
    startWorker()
  }

  /// Pauses a host, possibly while a worker has it.
  private func pauseHost() {
    let host = addresses.randomElement(using: &random)!.host()!
    let duration = Double.random(in: 10...300, using: &random)
    // The previous pause no longer counts, even if the reply to the new one is lost.
    paused[host] = nil
    let call = engine.pause(host, for: .seconds(duration), because: "test").sink { _ in
    } receiveValue: { [self] _ in
      paused[host] = (seconds, seconds + duration * (faults.contains(.step) ? 0.9 : 1) - 1)
    }
    _ = time.once(after: .seconds(1)) { call.cancel() }
    if faults.contains(.death), Bool.random(using: &random) {
      _ = time.once(after: .seconds(Double.random(in: 0...2, using: &random))) { [self] in killWorker() }
    }
    if faults.contains(.list), Bool.random(using: &random) { changeList(on: host) }
  }

  /// Removes a feed, and adds it again.
  private func changeList(on host: String? = nil) {
    let address = addresses.filter { host == nil || $0.host() == host }.randomElement(using: &random)!
    _ = time.once(after: .seconds(Double.random(in: 0...2, using: &random))) { [self] in call(engine.remove(address)) }
    _ = time.once(after: .seconds(Double.random(in: 3...400, using: &random))) { [self] in
      call(engine.add([NewFeed(address)]))
    }
  }

  /// Runs an action once, at a random moment of the next minute.
  private func soon(_ action: @escaping () -> Void) {
    _ = time.once(after: .seconds(Double.random(in: 0..<60, using: &random)), action)
  }

  func run(minutes: Int) {
    let adding = engine.add(addresses.map { NewFeed($0) }).sink { _ in
    } receiveValue: { _ in
    }
    time.advance(by: .seconds(1))
    adding.cancel()
    for _ in 0..<Int.random(in: 2...4, using: &random) { startWorker() }
    gateways = (0..<2).map { _ in startGateway() }
    clients = (0..<6).map { GatewayClient(gateways[$0 % 2]) { [unowned self] in expect(false, $0) } }
    for _ in 0..<minutes {
      time.advance(by: .seconds(60))
      look()
      for client in clients where client.isLost || Int.random(in: 0..<3, using: &random) == 0 {
        soon { [self] in client.connect(to: gateways.randomElement(using: &random)!) }
      }
      if Int.random(in: 0..<4, using: &random) == 0 { soon { [self] in misfortune() } }
      for gateway in gateways where gateway.isBegun && !faults.contains(.list) && !faults.contains(.failover) {
        expect(Set(gateway.shown.keys) == Set(shown), "a gateway shows other feeds")
      }
    }
    // No more faults occur: every feed is polled, and the gateway must show its latest version.
    isCalm = true
    time.advance(by: .seconds(60))
    engine.outage = nil
    (refusesUntil, losesUntil) = (-1, -1)
    call(engine.add(addresses.map { NewFeed($0) }))
    for gateway in gateways { gateway.isStopped = false }
    for client in clients { client.connect(to: gateways.randomElement(using: &random)!) }
    // By then, requested pauses and the delays after consecutive failures are over.
    time.advance(by: .seconds(3000))
    let calm = seconds
    time.advance(by: .seconds(Self.interval * 1.2 + 120))
    for address in addresses {
      expect(asked[address] ?? -1 > calm, "\(address) was not asked for \(Int(seconds - (asked[address] ?? 0))) s")
    }
    look()
    for address in addresses {
      let document = engine.state.feed(address)?.images?.first?.id
      expect(document != nil, "\(address) was never saved")
    }
    for (number, gateway) in gateways.enumerated() {
      expect(Set(gateway.shown.keys) == Set(shown), "gateway \(number) shows other feeds")
      expectEverything(in: gateway.shown, "gateway \(number)")
    }
    for (number, client) in clients.enumerated() {
      expectEverything(in: client.versions, "client \(number)")
    }
    if faults.contains(.failover) == false, faults.contains(.trim) == false {
      let resets = gateways.map(\.resets) + clients.map(\.resets)
      expect(resets.allSatisfy { $0 == 0 }, "needless resets: \(resets)")
    }
    finish()
  }

  /// Checks that the last changes are shown, which may be older than the last polls.
  private func expectEverything(in versions: [URL: FeedVersion], _ who: String) {
    for address in shown {
      guard let last = engine.state.lastChange(of: address) else { continue }
      expect(versions[address] ?? FeedVersion(microseconds: 0) >= last, "an update of \(address) was missed by \(who)")
    }
  }

  /// A refusal in a server's words.
  private func refusal() -> FleetError {
    let texts = [
      "LOADING Redis is loading the dataset in memory",
      "NOPERM User default has no permissions to run the 'hget' command",
      "WRONGTYPE Operation against a key holding the wrong kind of value",
      "OOM command not allowed when used memory > 'maxmemory'", "MASTERDOWN Link with MASTER is down",
    ]
    return .redis(.refused(Self.place, RedisRefusal(texts.randomElement(using: &random)!)))
  }

  private func finish() {
    for gateway in gateways { gateway.end() }
    for (worker, _) in workers { worker.finish() }
    time.advance(by: .seconds(120))
    for (_, subscription) in workers { subscription.cancel() }
    workers = []
    time.advance(by: .seconds(1))
  }
}

private final class Ahead { var value = 0.0 }

private final class SkewedClock: Sendable {
  private let time: VirtualTimeScheduler
  private let ahead: Double
  private let pace: Double
  init(_ time: VirtualTimeScheduler, ahead: Double, pace: Double) {
    (self.time, self.ahead, self.pace) = (time, ahead, pace)
  }
  var now: Duration { .seconds(Double(time.now.nanoseconds) / 1e9 * pace + ahead) }
}
