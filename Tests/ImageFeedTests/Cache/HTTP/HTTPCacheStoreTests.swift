import FeedFleet
import FeedHTTP
import FeedRedis
import FeedStream
import FeedStreamTesting
import Foundation
import GRDB
import ImageFeed
import RedisTestSupport
import TestSupport
import Testing

/// The behavior of every store of an HTTP cache: in memory, in a file and on a server.
@Suite(.settled) struct HTTPCacheStoreTests {
  enum Kind: String, CaseIterable { case memory, file, redis }

  /// A store in virtual time or on a real server, and its contents.
  final class Bench {
    let time: VirtualTimeScheduler
    let store: any HTTPCacheStore
    let folder = TemporaryFolder()
    private(set) var server: RedisServer?
    private var client: RedisClient?
    private let loop = EventLoop()

    init(_ time: VirtualTimeScheduler, _ kind: Kind, capacity: Int = 1 << 20) {
      self.time = time
      switch kind {
      case .memory: store = MemoryHTTPCache(capacity: capacity)
      case .file:
        store = SQLiteHTTPCache(path: folder.file("http.db"), on: time, capacity: capacity) {
          noon.addingTimeInterval(Double(time.now.nanoseconds) / 1e9)
        }
      case .redis:
        do {
          let server = try RedisServer()
          let client = RedisClient(server.address, on: loop)
          (self.server, self.client) = (server, client)
          store = RedisHTTPCache(RedisFleet(client, creates: true), capacity: capacity)
        } catch {
          preconditionFailure("\(error)")
        }
      }
    }

    deinit {
      (store as? SQLiteHTTPCache)?.close()
      client?.close()
      loop.run()
    }

    /// Runs until all work is done.
    private func run(_ isOver: () -> Bool) {
      guard client != nil else { return time.run() }
      while !isOver() {
        loop.run(.oneTurn)
        usleep(200)
      }
    }

    func change(
      _ key: String, where isMeant: @escaping @Sendable (HTTPStoredResponse.Head) -> Bool = { _ in true },
      to change: HTTPCacheChange
    ) {
      #expect(completion(of: change, key, where: isMeant) == .finished)
    }

    func completion(
      of change: HTTPCacheChange, _ key: String,
      where isMeant: @escaping @Sendable (HTTPStoredResponse.Head) -> Bool = { _ in true }
    ) -> Subscribers.Completion<HTTPCacheError>? {
      var ending: Subscribers.Completion<HTTPCacheError>?
      let subscription = store.change(key, where: isMeant, to: change).sink {
        ending = $0
      } receiveValue: { _ in
      }
      run { ending != nil }
      subscription.cancel()
      return ending
    }

    func responses(
      _ key: String, where isWanted: @escaping @Sendable (HTTPStoredResponse.Head) -> Bool = { _ in true }
    ) -> [HTTPStoredResponse]? {
      var found: [HTTPStoredResponse]?
      var ending: Subscribers.Completion<HTTPCacheError>?
      let subscription = store.responses(for: key, where: isWanted).sink {
        ending = $0
      } receiveValue: {
        found = $0
      }
      run { ending != nil }
      #expect(ending == .finished)
      subscription.cancel()
      return found
    }

    func bodies(_ key: String) -> [String]? { responses(key)?.map { String(decoding: $0.body, as: UTF8.self) } }
  }

  private func response(_ body: String, foo: String? = nil, received: Double = 0) -> HTTPStoredResponse {
    HTTPStoredResponse(
      head: HTTPStoredResponse.Head(
        status: 203, headers: [(name: "A", value: "1"), (name: "a", value: "é")],
        url: URL(string: "http://example.com/?q=1")!, requested: noon,
        received: noon.addingTimeInterval(received + 0.125), selectors: ["foo": foo, "bar": nil], isDecoded: false),
      body: Data(body.utf8))
  }

  @Test(arguments: Kind.allCases)
  func `a saved response is retrieved byte for byte`(kind: Kind) {
    withVirtualTime { time in
      let bench = Bench(time, kind)
      #expect(bench.responses("k") == [])
      let saved = response("body \u{0} é", foo: "1")
      bench.change("k", to: .save(saved))
      #expect(bench.responses("k") == [saved])
      #expect(bench.responses("other") == [])
      let empty = response("")
      bench.change("empty", to: .save(empty))
      #expect(bench.responses("empty") == [empty])
    }
  }

  @Test(arguments: Kind.allCases)
  func `a change affects only the matching responses`(kind: Kind) {
    withVirtualTime { time in
      let bench = Bench(time, kind)
      bench.change("k", where: { $0.selectors["foo"] == "1" }, to: .save(response("one", foo: "1")))
      bench.change("k", where: { $0.selectors["foo"] == "2" }, to: .save(response("two", foo: "2")))
      #expect(Set(bench.bodies("k") ?? []) == ["one", "two"])
      bench.change("k", where: { $0.selectors["foo"] == "1" }, to: .save(response("new", foo: "1")))
      #expect(Set(bench.bodies("k") ?? []) == ["new", "two"])
      #expect(bench.responses("k") { $0.selectors["foo"] == "2" }?.count == 1)
      bench.change("k", where: { $0.selectors["foo"] == "2" }, to: .remove)
      #expect(bench.bodies("k") == ["new"])
      bench.change("k", to: .remove)
      #expect(bench.bodies("k") == [])
      bench.change("nothing", to: .remove)
    }
  }

  @Test(arguments: Kind.allCases)
  func `freshening replaces a response's header and keeps its body`(kind: Kind) {
    withVirtualTime { time in
      let bench = Bench(time, kind)
      var head = response("").head
      bench.change("k", to: .freshen(head))
      #expect(bench.responses("k") == [], "there is nothing to renew")
      bench.change("k", where: { _ in false }, to: .save(response("old", received: 1)))
      bench.change("k", where: { _ in false }, to: .save(response("new", received: 2)))
      head.status = 200
      head.headers = [(name: "New", value: "longer than it was before")]
      bench.change("k", to: .freshen(head))
      #expect(bench.responses("k") == [HTTPStoredResponse(head: head, body: Data("new".utf8))])
    }
  }

  @Test(arguments: Kind.allCases)
  func `beyond its capacity, the cache drops the least recently used responses`(kind: Kind) {
    withVirtualTime { time in
      let body = String(repeating: "x", count: 1000)
      let bench = Bench(time, kind, capacity: 3 * response(body).byteCount)
      for key in ["a", "b", "c"] {
        bench.change(key, to: .save(response(body)))
        time.advance(by: 100)
      }
      #expect(bench.bodies("a")?.count == 1)
      time.advance(by: 100)
      bench.change("d", to: .save(response(body)))
      #expect(["a", "b", "c", "d"].map { bench.bodies($0)?.count } == [1, 0, 1, 1])
      bench.change("e", to: .save(response(String(repeating: "x", count: 6000))))
      #expect(bench.bodies("e") == [], "larger than all of it")
      #expect(["a", "c", "d"].map { bench.bodies($0)?.count } == [1, 1, 1], "and nothing made room for it")
    }
  }

  @Test func `a new response is kept even if the others were used while the clock was ahead`() throws {
    try withVirtualTime { time in
      let bench = Bench(time, .file, capacity: 2 * response("a").byteCount)
      for key in ["a", "b"] { bench.change(key, to: .save(response(key))) }
      (bench.store as? SQLiteHTTPCache)?.close()
      let file = try DatabaseQueue(path: bench.folder.file("http.db"))
      try file.writeWithoutTransaction { try $0.execute(sql: "UPDATE response SET used = used + 365 * 86400") }
      try file.close()
      bench.change("c", to: .save(response("c")))
      #expect(["a", "b", "c"].map(bench.bodies) == [[], ["b"], ["c"]])
    }
  }

  @Test(arguments: Kind.allCases)
  func `a change is made only on subscription`(kind: Kind) {
    withVirtualTime { time in
      let bench = Bench(time, kind)
      _ = bench.store.change("k", where: { _ in true }, to: .save(response("x")))
      time.run()
      #expect(bench.responses("k") == [])
    }
  }

  @Test func `MemoryHTTPCache counts the bytes that it holds`() {
    withVirtualTime { time in
      let store = MemoryHTTPCache(capacity: 100_000)
      func change(_ key: String, _ change: HTTPCacheChange) {
        _ = store.change(key, where: { _ in true }, to: change).sink { _ in
        } receiveValue: { _ in
        }
      }
      for round in 0..<10 {
        for key in 0..<200 { change("\(key)", .save(response(String(repeating: "x", count: 100 * round)))) }
        #expect(store.byteCount <= 100_000)
      }
      for key in 0..<200 {
        // Recorded uses are not kept forever.
        for _ in 0..<10 {
          _ = store.responses(for: "\(key)") { _ in true }.sink { _ in
          } receiveValue: { _ in
          }
        }
        change("\(key)", .remove)
      }
      #expect(store.byteCount == 0 && store.count == 0)
    }
  }

  // MARK: The server

  @Test func `freshening a response that was deleted to make room has no effect`() {
    withVirtualTime { time in
      let bench = Bench(time, .redis)
      bench.change("k", to: .save(response("one")))
      // Safe, because the server runs commands in another process, and no other code uses it meanwhile.
      nonisolated(unsafe) let server = bench.server!
      bench.change(
        "k",
        where: { _ in
          // Change the key between the read and the change, as another client's save would.
          #expect(throws: Never.self) {
            let id = try server.cli("HKEYS", "fs{0}:ci")
            for command in [["HDEL", "fs{0}:ci", id], ["HDEL", "fs{0}:c:k", id], ["DEL", "fs{0}:cb:\(id)"]] {
              try server.cli(command)
            }
          }
          return true
        }, to: .freshen(response("").head))
      #expect(bench.bodies("k") == [])
    }
  }

  @Test(arguments: [["ci"], ["cm"], ["cu"], ["ci", "cu"], ["ci", "cm"], ["cm", "cu"]])
  func `a full cache on a server survives the loss of its keys`(lost: [String]) throws {
    try withVirtualTime { time in
      let body = String(repeating: "x", count: 500)
      let bench = Bench(time, .redis, capacity: 3 * response(body).byteCount)
      for key in ["a", "b", "c"] { bench.change(key, to: .save(response(body))) }
      try #require(bench.server).cli(["DEL"] + lost.map { "fs{0}:\($0)" })
      for key in ["a", "d", "e", "f", "g"] { bench.change(key, to: .save(response(body))) }
      #expect(["a", "d", "e", "f", "g"].map { bench.bodies($0)?.count } == [0, 0, 1, 1, 1])
      // Without both lists, the older responses are found by their own keys only.
      let older: Int? = lost == ["ci", "cu"] ? 1 : 0
      #expect(["b", "c"].map { bench.bodies($0)?.count } == [older, older])
    }
  }

  @Test(arguments: [["cm"], ["ci", "cm", "cu"]])
  func `a cache on a server never delivers another URL's body`(lost: [String]) throws {
    try withVirtualTime { time in
      let bench = Bench(time, .redis)
      bench.change("a", to: .save(response("A")))
      try #require(bench.server).cli(["DEL"] + lost.map { "fs{0}:\($0)" })
      bench.change("b", to: .save(response("B")))
      #expect(bench.bodies("a") != ["B"] && bench.bodies("b") == ["B"])
      bench.change("a", to: .freshen(response("").head))
      bench.change("a", to: .save(response("C")))
      #expect(bench.bodies("a") == ["C"])
    }
  }

  @Test func `nothing is cached on a server that evicts keys`() throws {
    try withVirtualTime { time in
      let bench = Bench(time, .redis)
      try #require(bench.server).cli("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
      guard case .failure(let error)? = bench.completion(of: .save(response("A")), "a") else {
        Issue.record("It was saved.")
        return
      }
      #expect("\(error)".contains("noeviction"))
      bench.change("a", to: .remove)
      #expect(bench.bodies("a") == [])
    }
  }

  // MARK: The file

  @Test func `two stores can share a file`() {
    withVirtualTime { time in
      let bench = Bench(time, .file)
      let other = SQLiteHTTPCache(path: bench.folder.file("http.db"), on: time)
      defer { other.close() }
      bench.change("k", to: .save(response("one")))
      var found: [HTTPStoredResponse] = []
      let subscription = other.responses(for: "k") { _ in true }.sink { _ in
      } receiveValue: {
        found = $0
      }
      time.run()
      #expect(found == [response("one")])
      subscription.cancel()
    }
  }

  @Test func `only the user can read the file`() throws {
    try withVirtualTime { time in
      let bench = Bench(time, .file)
      bench.change("k", to: .save(response("one")))
      let attributes = try FileManager.default.attributesOfItem(atPath: bench.folder.file("http.db"))
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test func `a damaged file is renamed`() throws {
    try withVirtualTime { time in
      let bench = Bench(time, .file)
      bench.change("k", to: .save(response("zero")))
      (bench.store as? SQLiteHTTPCache)?.close()
      let path = bench.folder.file("http.db")
      let file = try FileHandle(forUpdating: URL(filePath: path))
      let end = try file.seekToEnd()
      try file.seek(toOffset: 100)
      try file.write(contentsOf: Data(repeating: 0xA5, count: Int(end) - 100))
      try file.close()
      #expect(bench.responses("k") == [])
      bench.change("k", to: .save(response("one")))
      #expect(bench.bodies("k") == ["one"])
      #expect(try bench.folder.contents.contains { $0.hasPrefix("http.db.corrupt-") })
    }
  }

  @Test(
    arguments: [
      "url = NULL", "selectors = NULL", "decoded = 'x'", "header = NULL", "received = 'x'", "used = 'x'",
      "bytes = 'x', used = 0",
    ])
  func `a file with a damaged value is renamed`(change: String) throws {
    try withVirtualTime { time in
      let bench = Bench(time, .file, capacity: 1000)
      bench.change("k", to: .save(response("zero")))
      (bench.store as? SQLiteHTTPCache)?.close()
      try damage(bench.folder.file("http.db"), table: "response", "UPDATE response SET \(change)")
      _ = bench.responses("k")
      // Makes room, which reads the sizes.
      for key in ["a", "b"] { bench.change(key, to: .save(response("one"))) }
      #expect(bench.bodies("b") == ["one"])
      #expect(try bench.folder.contents.contains { $0.hasPrefix("http.db.corrupt-") })
    }
  }

  @Test func `a file of saved feeds is refused and left unchanged`() throws {
    try withVirtualTime { time in
      let bench = Bench(time, .file)
      let feeds = SQLiteFeedStore(path: bench.folder.file("http.db"))
      try feeds.replace(for: address, with: makeFeed())
      var failure: HTTPCacheError?
      let subscription = bench.store.change("k", where: { _ in true }, to: .save(response("one"))).sink {
        if case .failure(let error) = $0 { failure = error }
      } receiveValue: { _ in
      }
      time.run()
      subscription.cancel()
      #expect(failure?.description.contains("http.db") == true)
      #expect(try feeds.retrieve(for: address) == makeFeed())
      feeds.close()
    }
  }
}
