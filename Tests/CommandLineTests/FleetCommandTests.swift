import Foundation
import RedisTestSupport
import TestSupport
import Testing

@testable import HTTPTestSupport
@testable import feed

/// The commands of a fleet, with a real server that the test starts.
@Suite(.settled, .timeLimit(.minutes(5))) struct FleetCommandTests {
  private static let feed = "http://127.0.0.1:1/feed"

  /// Every command that accepts a store, with its necessary arguments.
  private static let commands = [
    ["fleet", "status"], ["fleet", "pause", "h"], ["fleet", "resume", "h"], ["subscriptions", "list"],
    ["subscriptions", "add", feed], ["subscriptions", "remove", feed], ["explain", feed], ["work"],
    ["serve", "--port", "0"],
  ]

  /// The reply of `redis-cli` about all keys, to check that none was written.
  private func keys(_ server: RedisServer, in database: Int = 0) throws -> String {
    try server.cli("-a", "secret", "-n", "\(database)", "KEYS", "*")
  }

  @Test(arguments: [
    "redis://secret@127.0.0.1:1", "redis://:secret@127.0.0.1:1/x", "redis://:se/cret@127.0.0.1:1",
    "redis://:a secret@h:x",
    "redis://:secret#@h", "redis://h?password=secret&x=1", "rediss://:secret@h:99999", "unix://:secret@",
    "redis+sentinel://:secret@h", "redis://:secret@127.0.0.1:1",
  ])
  func `a password in a store's URL is never shown`(_ address: String) async throws {
    let run = try await FeedBinary.run(["fleet", "status", "--store", address])
    #expect([1, 64].contains(run.status) && !run.errors.isEmpty)
    for part in ["secret", "cret"] { #expect(!(run.output + run.errors).contains(part), "\(run.errors)") }
  }

  @Test(arguments: commands) func `another program's store is left unchanged, and the error is readable`(
    _ command: [String]
  ) async throws {
    let server = try RedisServer(["--requirepass", "secret"])
    try server.cli("-a", "secret", "-n", "1", "SET", "other", "1")
    try server.cli("-a", "secret", "-n", "2", "HSET", "fs{0}:meta", "program", "feedstream", "schema", "0")
    try server.cli("-a", "secret", "-n", "3", "HSET", "fs{0}:meta", "program", "feedstream", "schema", "9")
    let before = try (0...3).map { try keys(server, in: $0) }
    for (login, database, sentence) in [
      ("", 1, "requires a password"), (":wrong@", 1, "does not accept the password"),
      (":secret@", 99, "no such database"),
      (":secret@", 1, "has no feeds, but 1 key from another program"), (":secret@", 2, "an older version"),
      (":secret@", 3, "a newer version"),
    ] {
      let store = "unix://\(login)\(server.socket)?db=\(database)"
      let run = try await FeedBinary.run(command + ["--store", store])
      #expect(run.status == 1 && run.errors.contains(sentence), "\(store): \(run.status) \(run.errors)")
      #expect(!run.errors.contains("secret"))
    }
    #expect(try (0...3).map { try keys(server, in: $0) } == before)
  }

  @Test func `the store's password may come from the environment`() async throws {
    let server = try RedisServer(["--requirepass", "secret"])
    let run = try await FeedBinary.run(
      ["subscriptions", "add", Self.feed, "--store", server.text], environment: ["FEED_STORE_PASSWORD": "secret"])
    #expect(run.status == 0 && run.output == "Added 1 feed\n", "\(run.errors)")
  }

  @Test func `a store that is full or a replica is reported, and nothing is written`() async throws {
    let server = try RedisServer(port: nil)
    _ = try await FeedBinary.run(["subscriptions", "add", Self.feed, "--store", server.text])
    let before = try keys(server)
    for (setting, undo, sentence) in [
      (["CONFIG", "SET", "maxmemory", "1"], ["CONFIG", "SET", "maxmemory", "0"], "is out of memory"),
      (["REPLICAOF", "127.0.0.1", "1"], ["REPLICAOF", "NO", "ONE"], "read-only replica"),
    ] {
      try server.cli(setting)
      let run = try await FeedBinary.run(["subscriptions", "add", "\(Self.feed)2", "--store", server.text])
      #expect(run.status == 1 && run.errors.contains(sentence), "\(run.errors)")
      let read = try await FeedBinary.run(["fleet", "status", "--store", server.text])
      #expect(read.status == 0 && read.output.contains("1 feed on 1 host"), "\(read.errors)")
      try server.cli(undo)
    }
    #expect(try keys(server) == before)
  }

  @Test func `commands refuse to write to a store that may evict keys, and status warns about it`() async throws {
    let server = try RedisServer()
    _ = try await FeedBinary.run(["subscriptions", "add", Self.feed, "--store", server.text])
    try server.cli("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    for command in [["work"], ["subscriptions", "add", "\(Self.feed)2"]] {
      let run = try await FeedBinary.run(command + ["--store", server.text])
      #expect(run.status == 1 && run.errors.contains("maxmemory-policy allkeys-lru"), "\(command): \(run.errors)")
    }
    let status = try await FeedBinary.run(["fleet", "status", "--store", server.text])
    #expect(status.status == 0 && status.output.contains("allkeys-lru): set that policy to"), "\(status.output)")
  }

  @Test func `a server's refusal is reported, and never taken for an empty store`() async throws {
    let server = try RedisServer()
    _ = try await FeedBinary.run(["subscriptions", "add", Self.feed, "--store", server.text])
    for (command, denied) in [
      (["subscriptions", "list"], "zscan"), (["serve", "--port", "0"], "hmget"), (["work"], "zrangebyscore"),
    ] {
      try server.cli("ACL", "SETUSER", "default", "-\(denied)")
      let run = try await FeedBinary.run(command + ["--store", server.text])
      #expect(
        run.status == 1 && run.errors.contains("does not allow this user to do that"), "\(command): \(run.errors)")
      try server.cli("ACL", "SETUSER", "default", "+@all")
    }
  }

  @Test func `workers on several loops share a fleet and poll each feed once`() async throws {
    let server = try RedisServer()
    try await withOrigin(serving: document("A view")) { origin, url, _ in
      let feeds = (0..<12).map { "\(url)?\($0)" }
      for feed in feeds {
        _ = try await FeedBinary.run(["subscriptions", "add", feed, "--force", "--store", server.text])
      }
      let before = await origin.requestCount
      let worker = try RunningFeed([
        "work", "--store", server.text, "--loops", "3", "--name", "w", "--gap", "1ms", "--verbose",
      ])
      var seen: [String] = []
      while seen.count < 12, let line = await worker.output.line() {
        seen += feeds.filter { line.contains("\($0)  ") }
      }
      #expect(seen.sorted() == feeds.sorted())
      let count = await origin.requestCount
      #expect(count - before == 12)
      worker.send(SIGINT)
      #expect(await worker.status() == 130)
    }
  }

  @Test func `work refuses more --loops than --concurrency`() async throws {
    let run = try await FeedBinary.run(["work", "--store", "redis://127.0.0.1:1", "--concurrency", "2", "--loops", "3"])
    #expect(run.status == 64 && run.errors.contains("--loops must be from 1 to --concurrency (2)."), "\(run.errors)")
  }

  @Test func `a worker reports an error of its store, and continues when the error is resolved`() async throws {
    let server = try RedisServer()
    try await withOrigin(serving: document("A view")) { _, url, _ in
      _ = try await FeedBinary.run(["subscriptions", "add", url, "--store", server.text])
      let worker = try RunningFeed(["work", "--store", server.text])
      #expect(try #require(await worker.output.line()).contains(url))
      try server.cli("ACL", "SETUSER", "default", "-zrangebyscore")
      // Other lines may come in between, because each part of the worker reports its own refusal.
      #expect(await worker.errors.read(upTo: "does not allow this user to do that") != nil)
      _ = try await FeedBinary.run(["subscriptions", "add", "\(url)?2", "--store", server.text])
      try server.cli("ACL", "SETUSER", "default", "+@all")
      #expect(await worker.errors.read(upTo: "The store is available again") != nil)
      #expect(try #require(await worker.output.line()).contains(url))
      // If another program has written a key, only that key's host waits.
      try server.cli("SET", "fs{0}:h:h.example", "x")
      try server.cli("ZADD", "fs{0}:hosts", "0", "h.example")
      #expect(await worker.errors.read(upTo: "fs{0}:h:h.example") != nil)
      _ = try await FeedBinary.run(["subscriptions", "add", "\(url)?3", "--store", server.text])
      #expect(try #require(await worker.output.line()).contains(url))
      worker.send(SIGINT)
      #expect(await worker.status() == 130)
    }
  }

  @Test func `a local cache migrates to a fleet, is polled there, and shown by a gateway`() async throws {
    let server = try RedisServer()
    try await withOrigin(serving: document("A view")) { origin, url, cache in
      _ = try await FeedBinary.run(["load", url, "--cache", cache])
      let user = ["XDG_CONFIG_HOME": cache + ".config"]
      _ = try await FeedBinary.run(
        ["subscriptions", "add", url, "\(url)?2", "--force", "--cache", cache + ".none"], environment: user)
      let copy = try await FeedBinary.run(["store", "copy", cache, server.text], environment: user)
      #expect(copy.output == "Copied 1 of 2 feeds; added 2 to the fleet's list\n", "\(copy.errors)")
      let again = try await FeedBinary.run(["store", "copy", cache, server.text], environment: user)
      #expect(again.output == "Copied 0 of 2 feeds; added 0 to the fleet's list\n")

      let worker = try RunningFeed(["work", "--store", server.text, "--verbose", "--every", "1h", "--format", "json"])
      for _ in 0..<2 {
        let line = try #require(await worker.output.line())
        #expect(try #require(try JSONSchema(named: "work").check(lines: line).first?["url"] as? String).contains(url))
      }
      worker.send(SIGINT)
      #expect(await worker.status() == 130)
      // Expect one request by load, two by add, and one poll of each.
      let count = await origin.requestCount
      #expect(count == 5)

      let status = try await FeedBinary.run(["fleet", "status", "--store", server.text, "--format", "json"])
      #expect(status.output.contains(#""due_feeds":0"#) && status.output.contains(#""feeds":2"#), "\(status.output)")
      #expect(try JSONSchema(named: "fleet-status").check(lines: status.output).count == 1)
      let explained = try await FeedBinary.run(["explain", url, "--store", server.text])
      #expect(explained.output.contains("saved:  1 image"), "\(explained.output)")

      let gateway = try RunningFeed(["serve", "--port", "0", "--store", server.text])
      let port = try port(of: try #require(await gateway.output.line()))
      // A client that has received events elsewhere is greeted once the gateway has its feeds.
      let events = "GET /events HTTP/1.1\r\nHost: localhost:\(port)\r\nLast-Event-ID: 0-0\r\n\r\n"
      #expect(try await ask(port, events, upTo: "event: hello").contains("event: hello"))
      let page = try await get(port, "/feed.json")
      #expect(page.contains("A view"), "\(page)")
      let metrics = try await get(port, "/metrics")
      for line in [
        "feed_fleet_up 1", "feed_fleet_feeds 2.0",
        "feed_fleet_poll_lateness_seconds_count 2.0", "feed_fleet_gateway_lag_seconds 0.0",
        "feed_fleet_store_evicts 0.0",
      ] { #expect(metrics.contains("\n\(line)\n") || metrics.hasPrefix("\(line)\n"), "\(line): \(metrics)") }
      // The alerts and the dashboard name only these metrics.
      let known = MonitoringFile.names(in: metrics)
      for file in MonitoringFile.allCases {
        let named = try file.metrics()
        #expect(named.count > 5 && named.isSubset(of: known), "\(file.rawValue)")
      }
      gateway.send(SIGTERM)
      _ = await gateway.status()
    }
  }

  @Test func `store copy keeps the pause that a host requested`() async throws {
    let server = try RedisServer()
    let origin = RawOrigin.answering { _ in RawOrigin.answer("429 Wait", ["Retry-After: 3600"]) }
    defer { origin.stop() }
    try await withFolder { folder in
      let (url, cache) = (origin.url(), folder.appending(path: "feeds.db").path)
      let user = ["XDG_CONFIG_HOME": folder.appending(path: "config").path]
      _ = try await FeedBinary.run(
        ["subscriptions", "add", url.absoluteString, "--force", "--cache", cache + ".none"], environment: user)
      let watch = try RunningFeed(["watch", url.absoluteString, "--every", "1s", "--cache", cache])
      _ = await watch.errors.read(upTo: "429")
      watch.send(SIGTERM)
      _ = await watch.status()
      let copy = try await FeedBinary.run(["store", "copy", cache, server.text], environment: user)
      #expect(copy.output == "Copied 1 of 1 feed; added 1 to the fleet's list\n", "\(copy.errors)")
      let host = "\(url.host()!):\(url.port!)"
      #expect(try server.cli("ZRANGE", "fs{0}:pauses", "0", "-1") == host)
      #expect(try server.cli("HGET", "fs{0}:reasons", host).contains("Retry-After"))
    }
  }

  @Test func `one trace leads from a worker's lease to the event that a browser receives`() async throws {
    struct Line: Decodable {
      var message: String
      var metadata: [String: String]?
    }
    let server = try RedisServer()
    try await withOrigin(serving: document("A view")) { _, url, _ in
      let logging = ["--store", server.text, "--verbose", "--log-format", "json"]
      _ = try await FeedBinary.run(["subscriptions", "add", url, "--store", server.text])
      let gateway = try RunningFeed(["serve", "--port", "0"] + logging)
      let port = try port(of: try #require(await gateway.output.line()))
      async let events = ask(port, "GET /events HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n", upTo: "-01\",\"updated\"")
      // The client receives what is announced after it has connected, so the worker starts later.
      try await waitForEventClients(1, at: port)
      let worker = try RunningFeed(["work"] + logging)
      func trace(_ message: String, _ run: RunningFeed) async throws -> String? {
        while let text = await run.errors.line() {
          let line = try? JSONDecoder().decode(Line.self, from: Data(text.utf8))
          if line?.message == message { return line?.metadata?["trace_id"] }
        }
        return nil
      }
      let id = try #require(try await trace("polling", worker))
      #expect(id.count == 32)
      #expect(try await trace("polled", worker) == id)
      #expect(try await trace("announced", gateway) == id)
      #expect(try await events.contains("\"trace\":\"00-\(id)-"))
      for run in [gateway, worker] {
        run.send(SIGTERM)
        _ = await run.status()
      }
    }
  }

  @Test func `a starting gateway lets a client with another gateway's event id wait, and greets others`() async throws {
    let server = try RedisServer()
    _ = try await FeedBinary.run(["subscriptions", "add", Self.feed, "--store", server.text])
    let id = try server.cli("XADD", "fs{0}:updates", "*", "a", Self.feed, "v", "1000000")
    server.freeze()
    let gateway = try RunningFeed(["serve", "--port", "0", "--store", server.text])
    let port = try port(of: try #require(await gateway.output.line()))
    let request = "GET /events HTTP/1.1\r\nHost: localhost:\(port)\r\nLast-Event-ID: \(id)\r\n\r\n"
    async let events = ask(port, request, upTo: "event: hello")
    // A client without earlier events is greeted immediately; by then, the other client is waiting, too.
    let new = try await ask(port, "GET /events HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n", upTo: "event: hello")
    #expect(new.contains("event: hello"))
    server.thaw()
    let text = try await events
    #expect(text.contains("event: hello") && !text.contains("event: reset"), "\(text)")
    gateway.send(SIGTERM)
    _ = await gateway.status()
  }

  @Test func `a client that a gateway has only greeted continues at a later gateway without a reset`() async throws {
    let server = try RedisServer()
    _ = try await FeedBinary.run(["subscriptions", "add", Self.feed, "\(Self.feed)2", "--store", server.text])
    var last = "0-0"
    for isFirst in [true, false] {
      // The log has only updates of a feed that isn't shown.
      let id = try server.cli("XADD", "fs{0}:updates", "*", "a", "\(Self.feed)2", "v", "1000000")
      let gateway = try RunningFeed(["serve", "--port", "0", "--store", server.text, Self.feed])
      let port = try port(of: try #require(await gateway.output.line()))
      let request = "GET /events HTTP/1.1\r\nHost: localhost:\(port)\r\nLast-Event-ID: \(last)\r\n\r\n"
      let text = try await ask(port, request, upTo: "event: hello")
      #expect(text.contains("id: \(id)\nevent: hello") && text.contains("event: reset") == isFirst, "\(text)")
      last = id
      gateway.send(SIGTERM)
      _ = await gateway.status()
    }
  }

  @Test func `a hangup ends a gateway as an interrupt does`() async throws {
    let server = try RedisServer()
    _ = try await FeedBinary.run(["subscriptions", "add", Self.feed, "--store", server.text])
    let gateway = try RunningFeed(["serve", "--port", "0", "--store", server.text, "--verbose"])
    _ = try #require(await gateway.output.line())
    gateway.send(SIGHUP)
    #expect(await gateway.ending().errors.contains("interrupted; finishing saves"))
  }

  @Test func `updates of feeds that a gateway doesn't show don't count as its lag`() async throws {
    let server = try RedisServer()
    _ = try await FeedBinary.run(["subscriptions", "add", Self.feed, "\(Self.feed)2", "--store", server.text])
    let gateway = try RunningFeed(["serve", "--port", "0", "--store", server.text, Self.feed])
    let port = try port(of: try #require(await gateway.output.line()))
    // The metric is there once the gateway has its feeds. The suite's time limit ends an endless wait.
    while try await !get(port, "/metrics").contains("\nfeed_fleet_gateway_lag_seconds 0.0\n") {}
    try server.cli("XADD", "fs{0}:updates", "*", "a", "\(Self.feed)2", "v", "1000000")
    while try await !get(port, "/metrics").contains("\nfeed_fleet_gateway_lag_seconds 0.0\n") {}
    gateway.send(SIGTERM)
    _ = await gateway.status()
  }

  @Test func `a long output is written completely, to a file too`() async throws {
    let server = try RedisServer()
    try await withFolder { folder in
      let list = folder.appending(path: "list").path
      let tail = String(repeating: "x", count: 300)
      let lines = (0..<2000).map { "http://127.0.0.1:1/\($0)/\(tail)\n" }
      try lines.joined().write(toFile: list, atomically: true, encoding: .utf8)
      let added = try await FeedBinary.run(["subscriptions", "import", list, "--store", server.text])
      #expect(added.output == "Added 2000 of 2000 feeds\n", "\(added.errors)")
      let run = try await FeedBinary.shell("\"$FEED\" subscriptions list --store \(server.text) > \(list).out")
      #expect(run.status == 0)
      let written = try String(contentsOfFile: "\(list).out", encoding: .utf8)
      #expect(Set(written.split(separator: "\n").map { "\($0)\n" }) == Set(lines))
    }
  }

  @Test func `work ends after one signal even if nobody reads its output`() async throws {
    let server = try RedisServer()
    // No server listens at these addresses. The reports are longer than a pipe's capacity; two fit into each of its
    // pages, so that enough polls are reported before it is full.
    let tail = String(repeating: "x", count: 1300)
    let feeds = (1...100).map { "http://127.0.0.\($0):1/\(tail)" }
    _ = try await FeedBinary.run(["subscriptions", "add"] + feeds + ["--store", server.text])
    let worker = try RunningFeed(
      ["work", "--store", server.text, "--concurrency", "10", "--verbose"], readsOutput: false)
    for feed in feeds.indices { #expect(await worker.errors.read(upTo: tail) != nil, "\(feed)") }
    worker.send(SIGTERM)
    #expect(await worker.status() == 143)
  }

  @Test func `work completes its polls and ends when its output is closed`() async throws {
    let server = try RedisServer()
    let silence = SilentHosts()
    defer { silence.close() }
    let feeds = [Self.feed] + (2...5).map { "http://127.0.0.\($0):\(silence.port)/feed" }
    _ = try await FeedBinary.run(["subscriptions", "add"] + feeds + ["--store", server.text])
    let worker = try RunningFeed(["work", "--store", server.text, "--timeout", "1s", "--verbose"])
    _ = await worker.output.line()
    // The other polls still wait for a response, and are reported later.
    worker.output.close()
    #expect(await worker.status() == 141)
  }

  @Test func `work ends when its output can't be written`() async throws {
    let server = try RedisServer()
    _ = try await FeedBinary.run(["subscriptions", "add", Self.feed, "--store", server.text])
    let run = try await FeedBinary.shell("exec \"$FEED\" work --store \(server.text) --verbose >/dev/full")
    #expect(run.status == 1 && run.errors.contains("cannot write to standard output: No space left"), "\(run.errors)")
  }

  @Test func `remove ends when its output can't be written, even after a URL that isn't in the list`() async throws {
    let server = try RedisServer()
    _ = try await FeedBinary.run(["subscriptions", "add", Self.feed, "--store", server.text])
    let run = try await FeedBinary.shell(
      """
      exec timeout 120 "$FEED" subscriptions remove https://no.example/ \(Self.feed) --store \(server.text) >/dev/full
      """)
    #expect(run.status == 1 && run.errors.contains("cannot write to standard output: No space left"), "\(run.errors)")
  }

  @Test func `fleet status --watch writes only JSON to standard output, and errors to standard error`() async throws {
    let server = try RedisServer()
    _ = try await FeedBinary.run(["subscriptions", "add", Self.feed, "--store", server.text])
    let run = try RunningFeed(["fleet", "status", "--watch", "--format", "json", "--store", server.text])
    try JSONSchema(named: "fleet-status").check(lines: try #require(await run.output.line()))
    server.kill()
    #expect(await run.errors.read(upTo: "Warning: ") != nil)
    run.send(SIGTERM)
    for line in await run.ending().output.split(separator: "\n") { #expect(line.hasPrefix("{"), "\(line)") }
  }

  @Test func `work runs up to --concurrency requests at a time`() async throws {
    let server = try RedisServer()
    let silence = SilentHosts()
    defer { silence.close() }
    let feeds = (2...11).map { "http://127.0.0.\($0):\(silence.port)/feed" }
    _ = try await FeedBinary.run(["subscriptions", "add"] + feeds + ["--store", server.text])
    let worker = try RunningFeed(["work", "--store", server.text, "--concurrency", "8"])
    var held = 0
    // Ask another process, which takes a moment to start; the suite's time limit ends an endless wait.
    while held < 8 { held = Int(try server.cli("HLEN", "fs{0}:leases")) ?? 0 }
    #expect(held == 8)
    worker.send(SIGKILL)
    _ = await worker.status()
  }
}

/// Accepts connections at every address of this machine, and never responds.
private struct SilentHosts {
  let port: Int
  private let listener: Int32

  init() {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        precondition(bind(listener, $0, length) == 0 && listen(listener, 64) == 0, "SilentHosts: no port is free")
        getsockname(listener, $0, &length)
      }
    }
    port = Int(UInt16(bigEndian: address.sin_port))
  }

  func close() { _ = Foundation.close(listener) }
}
