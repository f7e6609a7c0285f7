import Foundation
import ImageFeedTesting
import Synchronization
import TestSupport
import Testing

@testable import HTTPTestSupport

/// `feed watch` as servers see it. The scorer of the simulated year judges it behind real sockets, while the program is
/// killed at random moments and started again.
@Suite(.settled) struct PoliteWatchTests {
  /// Servers of several profiles, and the scorer that judges all of their requests.
  private final class Servers: Sendable {
    private struct State {
      let scorer = PolitenessScorer()
      var asked: [String: Int] = [:]
      /// The responses of the last two seconds, which a killed program may not have recorded.
      var recent: [(time: Double, url: String, host: String)] = []
    }

    private let state = Mutex(Guarded(State()))
    private let began = ContinuousClock.now
    private let origins = Mutex<[RawOrigin]>([])

    // @unchecked: used only under the lock.
    private final class Guarded: @unchecked Sendable {
      var value: State
      init(_ value: State) { self.value = value }
    }

    /// - Parameters:
    ///   - count: the number of hosts.
    ///   - interval: the minimum time between requests for a URL, in seconds.
    init(hosts count: Int, interval: Double) {
      state.withLock {
        $0.value.scorer.interval = interval
        // On a busy machine, a server may read a request long after it was sent.
        $0.value.scorer.travelTime = 0.5
      }
      origins.withLock { origins in
        origins = (0..<count).map { number in
          RawOrigin.answering(at: "127.0.0.\(number + 1)") { [unowned self] in answer($0) }
        }
      }
    }

    func stop() { for origin in origins.withLock({ $0 }) { origin.stop() } }

    func addresses(_ paths: [String]) -> [String] {
      origins.withLock { $0 }.flatMap { origin in paths.map { origin.url("/\($0)").absoluteString } }
    }

    var now: Double { (ContinuousClock.now - began) / .seconds(1) }

    var faults: [String] { state.withLock { $0.value.scorer.faults.map(\.description) } }
    var requests: Int { state.withLock { $0.value.scorer.requests } }
    var conditional: Int { state.withLock { $0.value.scorer.conditional } }

    /// Call this when the program is about to be started again.
    ///
    /// - Parameter killed: the time of the kill; on a busy machine, the program's end is noticed much later.
    func restarts(after killed: Double) {
      state.withLock { state in
        for answer in state.value.recent where answer.time > killed - 2 {
          state.value.scorer.lost(answer.url, of: answer.host)
        }
        state.value.scorer.restarted(at: now)
      }
    }

    private func answer(_ request: RawOrigin.Request) -> Data {
      let host = request["Host"] ?? ""
      let url = host + request.path
      let asked = PolitenessScorer.Request(
        url: url, host: host, etag: request["If-None-Match"], lastModified: request["If-Modified-Since"])
      let count = state.withLock { state in
        state.value.scorer.asked(asked, at: now)
        state.value.asked[url, default: 0] += 1
        return state.value.asked[url]!
      }
      let (answer, data) = Self.mood(of: request, count)
      usleep(20_000)
      state.withLock { state in
        state.value.scorer.ended(asked, answer, at: now)
        state.value.recent = state.value.recent.suffix(50) + [(now, url, host)]
      }
      return data
    }

    /// The server's `count`th response at a path.
    private static func mood(
      of request: RawOrigin.Request, _ count: Int
    ) -> (answer: PolitenessScorer.Answer, data: Data) {
      func refusal(_ status: Int, pause: Int? = nil) -> (PolitenessScorer.Answer, Data) {
        let fields = pause.map { ["Retry-After: \($0)"] } ?? []
        return (.init(status: status, pause: pause.map(Double.init)), RawOrigin.answer("\(status) No", fields))
      }
      // The feed changes with every third request.
      let version = count / 3
      let etag = "W/\"\(request.path)-\(version)\""
      switch request.path {
      case "/strict" where count % 3 == 0: return refusal(429, pause: 3)
      case "/failing" where count % 2 == 0: return refusal(500)
      case "/gone" where count > 1: return refusal(410)
      case "/plain":
        return (.init(status: 200), RawOrigin.answer("200 OK", [], feed(request.path, 0)))
      default:
        let isSame = request["If-None-Match"] == etag
        return (
          .init(status: isSame ? 304 : 200, etag: etag),
          RawOrigin.answer(
            isSame ? "304 Not Modified" : "200 OK", ["ETag: \(etag)"], isSame ? Data() : feed(request.path, version))
        )
      }
    }

    private static func feed(_ path: String, _ version: Int) -> Data {
      Data(
        """
        {"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "\(path)", "image": "https://a\(path)/\(version).png"}]}
        """.utf8)
    }
  }

  /// Watches until killed, repeatedly: at a random moment and, every other time, soon after a request; stops after
  /// `most` requests.
  private func watch(
    _ servers: Servers, _ addresses: [String], every: String, rounds: Int, most: Int = .max
  ) async throws {
    try await withFolder { folder in
      let cache = folder.appendingPathComponent("feeds.db").path
      for round in 0..<rounds {
        let before = servers.requests
        let run = try RunningFeed(["watch", "--every", every, "--cache", cache, "--format", "json"] + addresses)
        // A busy machine takes a long time to start a program.
        for _ in 0..<1000 where round.isMultiple(of: 2) && servers.requests == before && before < most {
          try await Task.sleep(for: .milliseconds(10))
        }
        try await Task.sleep(for: .milliseconds(Int.random(in: 100...2500)))
        let killed = servers.now
        run.send(SIGKILL)
        // Each version of a feed is a different line, which a process shows only once; after an error, the version is
        // new again.
        let lines = await run.ending().output.split(separator: "\n").filter { line in
          line.contains(#""origin":"remote""#) && !["failing", "strict"].contains { line.contains($0) }
        }
        #expect(Set(lines).count == lines.count)
        servers.restarts(after: killed)
      }
    }
  }

  @Test(.timeLimit(.minutes(5))) func `polling every second respects every polling rule, even when watch is killed`()
    async throws
  {
    let servers = Servers(hosts: 2, interval: 1)
    defer { servers.stop() }
    let addresses = servers.addresses(["tagged", "strict", "failing", "gone", "plain"])
    try await watch(servers, addresses, every: "1s", rounds: 8)
    #expect(servers.faults == [])
    #expect(servers.requests > 4)
  }

  @Test(.timeLimit(.minutes(5)))
  func `feeds polled every hour are requested once, however often watch restarts`() async throws {
    let servers = Servers(hosts: 6, interval: 3600)
    defer { servers.stop() }
    let addresses = servers.addresses(["tagged", "other", "third", "plain"])
    try await watch(servers, addresses, every: "1h", rounds: 8, most: addresses.count)
    #expect(servers.faults == [])
    #expect(servers.requests > 4 && servers.requests <= addresses.count && servers.conditional == 0)
  }
}
