import CoreMetrics
import FeedHTTP
import FeedHTTPServer
import FeedRedis
import FeedStream
import FeedStreamMetrics
import Foundation
import MetricsTestKit
import Testing

@Suite struct MetricsTests {
  /// The durations that were recorded as `label`, in seconds, with the attributes of each.
  private static func timers(_ metrics: TestMetrics, _ label: String) -> [[String: String]: [Double]] {
    var timers: [[String: String]: [Double]] = [:]
    for timer in metrics.timers where timer.label == label {
      let attributes = Dictionary(timer.dimensions) { $1 }
      timers[attributes, default: []] += timer.values.map { Double($0) / 1e9 }
    }
    return timers
  }

  /// A server whose responses a cache may use for a minute.
  private static func serveFresh(on loop: EventLoop) throws -> (HTTPServer, AnyCancellable, URL) {
    let server = try HTTPServer(at: .internet("127.0.0.1", port: 0), on: loop)
    let serving = server.serve { _ in
      var response = ServerResponse.text("fresh")
      response.headers["Cache-Control"] = "max-age=60"
      return response
    }
    return (server, serving, URL(string: "http://127.0.0.1:\(try #require(server.address?.port))/")!)
  }

  @Test func `server and client record the duration of requests, labeled with the status`() throws {
    let metrics = TestMetrics()
    let loop = EventLoop()
    let server = try HTTPServer(at: .internet("127.0.0.1", port: 0), on: loop)
    var routes = HTTPRoutes()
    routes.use(.metrics(factory: metrics))
    routes.on(.get, "/slow") { request in
      Just(ServerResponse.text("slow")).delay(for: .milliseconds(50), scheduler: request.scheduler)
    }
    routes.get("/broken") { _ in throw HTTPStatus.internalServerError }
    let serving = server.serve(routes)
    let port = try #require(server.address?.port)
    let client = CurlHTTPClient(on: loop).metered(factory: metrics)
    let urls = ["slow", "slow", "broken", "missing"].map { URL(string: "http://127.0.0.1:\(port)/\($0)")! }
    let asking = urls.publisher
      .flatMap(maxPublishers: .max(1)) { client.get($0) }
      .sink { _ in
        loop.stop()
      } receiveValue: { _ in
      }
    loop.run(.untilStopped)
    asking.cancel()
    serving.cancel()
    server.close()

    let name = MetricNames.Attribute.self
    let served = Self.timers(metrics, "http.server.request.duration")
    let slow = try #require(
      served[[name.method: "GET", name.route: "/slow", name.status: "200", name.scheme: "http"]])
    #expect(slow.count == 2 && slow.allSatisfy { (0.05..<5).contains($0) }, "\(slow)")
    #expect(served[[name.method: "GET", name.status: "404", name.scheme: "http"]]?.count == 1)
    let broken = [
      name.method: "GET", name.route: "/broken", name.status: "500", name.scheme: "http", name.errorType: "500",
    ]
    #expect(served[broken]?.count == 1)
    #expect(served.count == 3)

    let asked = Self.timers(metrics, "http.client.request.duration")
    var attributes = [
      name.method: "GET", name.scheme: "http", name.serverAddress: "127.0.0.1", name.serverPort: "\(port)",
      name.status: "200",
    ]
    #expect(asked[attributes]?.count == 2)
    attributes[name.status] = "404"
    attributes[name.errorType] = "404"
    #expect(asked[attributes]?.count == 1)
    loop.close()
  }

  @Test func `a failed request is recorded with its kind, and a response from the cache isn't recorded`() throws {
    let metrics = TestMetrics()
    let loop = EventLoop()
    let (server, serving, url) = try Self.serveFresh(on: loop)
    let client = CurlHTTPClient(on: loop).metered(factory: metrics)
    let cached = client.cached(in: MemoryHTTPCache())
    let asking = [url, url].publisher
      .flatMap(maxPublishers: .max(1)) { cached.get($0) }
      .handleEvents(receiveCompletion: { _ in server.close() })
      .append(client.get(url))
      .sink { _ in
        loop.stop()
      } receiveValue: { _ in
      }
    loop.run(.untilStopped)
    asking.cancel()
    serving.cancel()
    let recorded = Self.timers(metrics, MetricNames.clientRequestDuration)
    #expect(recorded.values.map(\.count).sorted() == [1, 1])
    #expect(recorded.keys.contains { $0[MetricNames.Attribute.errorType] == "connect" }, "\(recorded.keys)")
    loop.close()
  }

  /// Responds to all requests immediately.
  private struct Responder: HTTPClient {
    func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
      Just(HTTPResponse(status: 200, body: Data(), url: request.url)).setFailureType(to: HTTPError.self)
        .eraseToAnyPublisher()
    }
  }

  @Test func `requests to more servers than the limit are recorded together`() {
    let metrics = TestMetrics()
    let client = Responder().metered(servers: 2, factory: metrics)
    let urls = [
      "http://a.example", "http://b.example", "http://a.example:81", "http://c.example", "http://a.example/again",
    ]
    for url in urls { client.get(URL(string: url)!).sink { _ in } receiveValue: { _ in }.cancel() }
    let recorded = Self.timers(metrics, MetricNames.clientRequestDuration).reduce(into: [String: Int]()) { counts, timer in
      let server = timer.key[MetricNames.Attribute.serverAddress] ?? ""
      counts["\(server) \(timer.key[MetricNames.Attribute.serverPort] ?? "")"] = timer.value.count
    }
    #expect(recorded == ["a.example 80": 2, "b.example 80": 1, "_OTHER ": 2])
  }

  @Test func `the connections of a loop's servers are added, and are 0 when the servers are gone`() throws {
    let metrics = TestMetrics()
    let loop = EventLoop()
    defer { loop.close() }
    let recording = LoopMetrics(of: loop, named: "main", every: .milliseconds(5), factory: metrics)
    defer { recording.cancel() }
    var servers = try (0..<2).map { _ in try HTTPServer(at: .internet("127.0.0.1", port: 0), on: loop) }
    var serving = servers.map { server in server.serve { _ in .text("") } }
    for server in servers { recording.add(server) }
    var connections: [Connection] = []
    let connecting = Connection.connect(to: try #require(servers[0].address), on: loop).sink { _ in
    } receiveValue: { connections.append($0) }
    func counts() -> [Double] {
      metrics.recorders.filter { $0.label == MetricNames.serverConnections }.flatMap(\.values)
    }
    // The loop of this test runs until `isReached`.
    func run(until isReached: @escaping () -> Bool) {
      let checking = Interval(every: .milliseconds(5), scheduler: loop).sink { _ in if isReached() { loop.stop() } }
      let limit = Just(0).delay(for: .seconds(10), scheduler: loop).sink { _ in loop.stop() }
      loop.run(.untilStopped)
      for subscription in [checking, limit] { subscription.cancel() }
    }
    run { counts().contains(1) }
    #expect(counts().last == 1)
    connecting.cancel()
    for connection in connections { connection.close() }
    for subscription in serving { subscription.cancel() }
    for server in servers { server.close() }
    (servers, serving) = ([], [])
    let before = counts().count
    run { counts().count > before + 2 }
    #expect(counts().last == 0)
  }

  @Test func `metrics include a loop's turns, delay, handles, offloaded work and a server's connections`() throws {
    let metrics = TestMetrics()
    let loop = EventLoop()
    let server = try HTTPServer(at: .internet("127.0.0.1", port: 0), on: loop)
    let serving = server.serve { _ in .text("") }
    let recording = LoopMetrics(of: loop, named: "main", every: .milliseconds(20), factory: metrics)
    recording.add(server)
    let connecting = Connection.connect(to: try #require(server.address), on: loop).sink { _ in
    } receiveValue: { connection in
      // Keep the connection open until the loop has stopped.
      loop.schedule(after: loop.now.advanced(by: .milliseconds(200))) { connection.close() }
    }
    // A long turn, which delays the timer.
    loop.schedule(after: loop.now.advanced(by: .milliseconds(30))) { usleep(60_000) }
    loop.offload({ usleep(100_000) }, completion: {})
    loop.schedule(after: loop.now.advanced(by: .milliseconds(150))) { loop.stop() }
    loop.run(.untilStopped)
    recording.cancel()
    connecting.cancel()
    serving.cancel()
    server.close()
    let main = [MetricNames.Attribute.loopName: "main"]
    #expect(Self.timers(metrics, "feedstream.eventloop.turn.duration")[main]?.contains { $0 >= 0.06 } == true)
    #expect(Self.timers(metrics, "feedstream.eventloop.delay")[main]?.contains { $0 >= 0.03 } == true)
    func gauges(_ label: String) -> [Double] { metrics.recorders.filter { $0.label == label }.flatMap(\.values) }
    #expect(gauges("feedstream.eventloop.active_handles").contains { $0 > 0 })
    #expect(gauges("feedstream.eventloop.offloads").contains(1) && gauges("feedstream.eventloop.offloads").last == 0)
    #expect(gauges("feedstream.http.server.connections").contains(1))
    // Nothing is recorded after the cancellation.
    let count = metrics.timers.flatMap(\.values).count
    loop.schedule {}
    loop.run()
    #expect(metrics.timers.flatMap(\.values).count == count)
    loop.close()
  }

  @Test func `a cache's decisions are counted by name`() throws {
    let metrics = TestMetrics()
    let loop = EventLoop()
    let (server, serving, url) = try Self.serveFresh(on: loop)
    var options = HTTPCacheOptions()
    options.report = CacheMetrics(factory: metrics).record
    let client = CurlHTTPClient(on: loop).cached(in: MemoryHTTPCache(), options)
    let requesting = [url, url, url].publisher
      .flatMap(maxPublishers: .max(1)) { client.get($0) }
      .sink { _ in
        server.close()
        loop.stop()
      } receiveValue: { _ in
      }
    loop.run(.untilStopped)
    requesting.cancel()
    serving.cancel()
    let counts = metrics.counters.filter { $0.label == "feedstream.http.cache.events" }
      .reduce(into: [:]) { $0[$1.dimensions[0].1, default: 0] += $1.totalValue }
    #expect(counts == ["missed": 1, "stored": 1, "fresh": 2])
    #expect(metrics.counters.allSatisfy { $0.dimensions.map(\.0) == ["feedstream.http.cache.event"] })
    loop.close()
  }

  @Test func `polls are counted by outcome, and a fleet's with how late they are`() {
    enum Outcome: String { case changed, unchanged }
    let metrics = TestMetrics()
    let polls = PollMetrics(factory: metrics)
    polls.record(Outcome.changed)
    polls.record(Outcome.unchanged, lateness: .milliseconds(250))
    polls.record(Outcome.unchanged, lateness: .seconds(2))
    let counts = metrics.counters.filter { $0.label == "feedstream.polls" }
      .reduce(into: [:]) { $0[$1.dimensions[0].1, default: 0] += $1.totalValue }
    #expect(counts == ["changed": 1, "unchanged": 2])
    #expect(Self.timers(metrics, "feedstream.poll.lateness") == [[:]: [0.25, 2]])
  }

  @Test func `Redis commands are recorded with their name, server and refusal`() throws {
    let metrics = TestMetrics()
    let loop = EventLoop()
    // Accepts the login, answers SET, refuses LPUSH, and closes the connection on GET.
    let listener = try Listener(at: .internet("127.0.0.1", port: 0), on: loop)
    var serving: Set<AnyCancellable> = []
    listener.connections.sink { connection in
      connection.bytes
        .map { bytes in
          let text = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
          if text.contains("GET") { connection.close() }
          return Chunk(text.contains("LPUSH") ? "-WRONGTYPE no number\r\n" : "+OK\r\n")
        }
        .write(to: connection)
        .sink { _ in
        } receiveValue: { _ in
        }
        .store(in: &serving)
    }
    .store(in: &serving)
    let port = try #require(listener.address.port)
    var options = RedisClient.Options()
    options.usesVersion2 = true
    let client = RedisClient(
      RedisAddress(.internet(host: "127.0.0.1", port: port)), on: loop, options: options
    ).metered(factory: metrics)
    let commands = [RedisCommand("SET", "a", "1"), RedisCommand("LPUSH", "a", "2"), RedisCommand("GET", "a")]
    let sending = commands.publisher
      .flatMap(maxPublishers: .max(1)) { client.send($0).map { _ in true }.replaceError(with: false) }
      .collect()
      .sink {
        #expect($0 == [true, false, false])
        loop.stop()
      }
    loop.run(.untilStopped)
    sending.cancel()
    client.close()
    serving = []
    listener.close()
    let recorded = Self.timers(metrics, "db.client.operation.duration")
    var attributes = [
      "db.system.name": "redis", "db.operation.name": "SET", "server.address": "127.0.0.1", "server.port": "\(port)",
    ]
    #expect(recorded[attributes]?.count == 1)
    attributes["db.operation.name"] = "LPUSH"
    attributes["error.type"] = "WRONGTYPE"
    #expect(recorded[attributes]?.count == 1)
    attributes["db.operation.name"] = "GET"
    attributes["error.type"] = "closed"
    #expect(recorded[attributes]?.count == 1)
    #expect(recorded.count == 3, "\(recorded)")
    loop.close()
  }

  @Test func `names in Prometheus's format end with their unit`() {
    #expect(
      MetricNames.prometheus(MetricNames.serverRequestDuration, unit: "seconds")
        == "http_server_request_duration_seconds")
    #expect(MetricNames.method("GET") == "GET" && MetricNames.method("MKCOL") == "_OTHER")
  }
}
