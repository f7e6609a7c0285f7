import FeedStream
import Foundation
import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport

/// The destinations of URLs that the user didn't choose. Here, `127.0.0.1` represents the web, and `127.0.0.2` a
/// private network.
@Suite(.settled) struct PrivateNetworkTests {
  private static func bench() -> HTTPBench { HTTPBench { $0.publicAddresses = ["127.0.0.1"] } }
  private static func answering() -> RawOrigin { .answering(at: "127.0.0.2") { _ in RawOrigin.answer() } }

  private func redirecting(to target: URL) -> RawOrigin {
    .answering { _ in RawOrigin.answer("302 Found", ["Location: \(target.absoluteString)"]) }
  }

  @Test func `a redirect from the web to a private network is refused before connecting`() {
    let inside = Self.answering()
    let web = redirecting(to: inside.url())
    defer {
      inside.stop()
      web.stop()
    }
    let error = Self.bench().run(web.url()).error
    #expect(error?.kind == .privateNetwork && error?.host == "127.0.0.2:\(inside.port)")
    let reason = "127.0.0.2 is on a private network, but 127.0.0.1:\(web.port), which led to it, is not"
    #expect("\(error!)".contains(reason))
    #expect(inside.accepted == 0)
  }

  @Test func `a cached feed from a private network isn't shown when the web leads to it`() {
    let inside = RawOrigin.answering(at: "127.0.0.2") { _ in
      RawOrigin.answer("200 OK", ["Cache-Control: max-age=100"], Data("inside".utf8))
    }
    let web = redirecting(to: inside.url())
    defer {
      inside.stop()
      web.stop()
    }
    let bench = Self.bench()
    let cached = bench.client.cached(in: MemoryHTTPCache())
    func get(_ url: URL) -> HTTPProbe {
      let probe = HTTPProbe()
      cached.get(HTTPRequest(url)).subscribe(probe)
      bench.loop.run()
      return probe
    }
    #expect(get(inside.url()).response?.body == Data("inside".utf8))
    #expect(get(web.url()).error?.kind == .privateNetwork)
    // For a URL that the user chose, the response is as fresh as before.
    #expect(get(inside.url()).response?.headers["Age"] != nil)
    #expect(inside.accepted == 1)
  }

  @Test func `a stored response is marked as private when it is revalidated from a private network`() {
    let inside = RawOrigin.answering(at: "127.0.0.2") { request in
      request["If-None-Match"] == nil
        ? RawOrigin.answer("200 OK", ["ETag: \"1\"", "Cache-Control: max-age=0"], Data("inside".utf8))
        : RawOrigin.answer("304 Not Modified", ["ETag: \"1\"", "Cache-Control: max-age=100"])
    }
    defer { inside.stop() }
    let bench = Self.bench()
    let store = UnmarkingCache()
    let cached = bench.client.cached(in: store)
    for _ in 0..<2 {
      let probe = HTTPProbe()
      cached.get(HTTPRequest(inside.url())).subscribe(probe)
      bench.loop.run()
      #expect(probe.response?.body == Data("inside".utf8))
    }
    #expect(store.renewed.map { $0.selectors["private network"] } == ["own"])
  }

  /// Stores responses without the private-network mark, as earlier versions did.
  private final class UnmarkingCache: HTTPCacheStore {
    let cache = MemoryHTTPCache()
    private(set) var renewed: [HTTPStoredResponse.Head] = []

    func responses(
      for key: String, where isWanted: @escaping @Sendable (HTTPStoredResponse.Head) -> Bool
    ) -> AnyPublisher<[HTTPStoredResponse], HTTPCacheError> {
      cache.responses(for: key, where: isWanted)
    }

    func change(
      _ key: String, where isMeant: @escaping @Sendable (HTTPStoredResponse.Head) -> Bool, to change: HTTPCacheChange
    ) -> AnyPublisher<Never, HTTPCacheError> {
      var change = change
      if case .save(var response) = change {
        response.head.selectors["private network"] = nil
        change = .save(response)
      }
      if case .freshen(let head) = change { renewed.append(head) }
      return cache.change(key, where: isMeant, to: change)
    }
  }

  @Test func `a private URL in a document is refused, and the user's own URL isn't`() {
    let inside = Self.answering()
    let web = RawOrigin.answering { _ in RawOrigin.answer() }
    defer {
      inside.stop()
      web.stop()
    }
    let bench = Self.bench()
    var named = HTTPRequest(inside.url())
    named.origin = web.url()
    #expect(bench.run(named).error?.kind == .privateNetwork)
    #expect(inside.accepted == 0)
    #expect(bench.run(inside.url()).response?.status == 200)
    // The user's connection is open, but isn't used for this request.
    #expect(bench.run(named).error?.kind == .privateNetwork)
    #expect(inside.accepted == 1)
    // Any document may name a URL that leads to the web.
    named.url = web.url()
    #expect(bench.run(named).response?.status == 200)
  }

  @Test func `a server of a private network may redirect and link within it`() {
    let inside = Self.answering()
    let other = RawOrigin.answering(at: "127.0.0.3") { _ in
      RawOrigin.answer("302 Found", ["Location: \(inside.url().absoluteString)"])
    }
    defer {
      inside.stop()
      other.stop()
    }
    #expect(Self.bench().run(other.url()).response?.url == inside.url())
    // Another process has requested the document that names the URL.
    var named = HTTPRequest(inside.url())
    named.origin = URL(string: "http://127.0.0.3/")
    #expect(Self.bench().run(named).response?.status == 200)
    // A name counts as the addresses to which it resolves.
    named.origin = URL(string: "http://localhost/")
    #expect(Self.bench().run(named).error?.kind == .privateNetwork)
    #expect(HTTPBench().run(named).response?.status == 200)
  }

  /// `dual.test` has a public address and one in a private network, in either order.
  @Test(arguments: [["127.0.0.1", "127.0.0.2"], ["127.0.0.2", "127.0.0.1"], ["127.0.0.1", "::1"]])
  func `a web host that also has a private address can't lead to a private network`(addresses: [String]) throws {
    let inside = Self.answering()
    let web = redirecting(to: inside.url())
    defer {
      inside.stop()
      web.stop()
    }
    func bench() -> HTTPBench {
      HTTPBench {
        $0.publicAddresses = ["127.0.0.1"]
        $0.addresses = ["dual.test": addresses]
      }
    }
    let url = try #require(URL(string: "http://dual.test:\(web.port)/"))
    let first = bench()
    #expect(first.run(url).error?.kind == .privateNetwork)
    // URLs named by a document from `dual.test`: its network is known, or follows from the host's latest response, or
    // from all of its addresses.
    var named = HTTPRequest(inside.url())
    named.origin = url
    #expect(first.run(named).error?.kind == .privateNetwork)
    #expect(bench().run(named).error?.kind == .privateNetwork)
    named.originIsPrivate = false
    #expect(bench().run(named).error?.kind == .privateNetwork)
    #expect(inside.accepted == 0)
  }

  @Test func `a feed from the web stays public when its host moves into a private network`() throws {
    let inside = Self.answering()
    defer { inside.stop() }
    let bench = HTTPBench {
      $0.publicAddresses = ["127.0.0.1"]
      $0.addresses = ["moved.test": ["127.0.0.2"]]
    }
    let url = try #require(URL(string: "http://moved.test:\(inside.port)/"))
    #expect(bench.run(url).response?.status == 200)
    var named = HTTPRequest(inside.url("/named"))
    named.origin = url
    named.originIsPrivate = false
    #expect(bench.run(named).error?.kind == .privateNetwork)
    // The latest response came from the private network.
    named.originIsPrivate = true
    #expect(bench.run(named).response?.status == 200)
  }

  @Test func `a failed connection to a private address doesn't make its host private`() throws {
    let inside = Self.answering()
    let web = RawOrigin.answering { _ in RawOrigin.answer() }
    defer {
      inside.stop()
      web.stop()
    }
    let bench = HTTPBench {
      $0.publicAddresses = ["127.0.0.1"]
      // No server listens on the first address.
      $0.addresses = ["dual.test": ["127.0.0.3", "127.0.0.1"]]
    }
    let url = try #require(URL(string: "http://dual.test:\(web.port)/"))
    #expect(bench.run(url).response?.status == 200)
    var named = HTTPRequest(inside.url())
    named.origin = url
    #expect(bench.run(named).error?.kind == .privateNetwork)
    #expect(inside.accepted == 0)
  }

  @Test func `a refused address doesn't matter if the host responds at another one`() throws {
    let web = RawOrigin { connection in
      guard try connection.readRequest().path == "/feed" else { return try connection.send(RawOrigin.answer()) }
      try connection.send("HTTP/1.1 302 Found\r\nLocation: /moved\r\n\r\n")
      connection.waitForClose()
    }
    defer { web.stop() }
    let bench = HTTPBench {
      $0.publicAddresses = ["127.0.0.1"]
      $0.addresses = ["dual.test": ["127.0.0.2", "127.0.0.1"]]
    }
    var named = HTTPRequest(try #require(URL(string: "http://dual.test:\(web.port)/feed")))
    named.origin = URL(string: "http://127.0.0.1/")
    let probe = bench.run(named)
    #expect(
      probe.response?.status == 200 && probe.response?.url.path() == "/moved", "\(String(describing: probe.error))")
  }

  @Test func `a request that must not be repeated fails for that reason, even if an address was refused`() throws {
    let web = RawOrigin { connection in
      try connection.readRequest()
      try connection.send(RawOrigin.answer())
      // The connection breaks when it is used again.
      try connection.readRequest()
    }
    defer { web.stop() }
    let bench = HTTPBench {
      $0.publicAddresses = ["127.0.0.1"]
      $0.addresses = ["dual.test": ["127.0.0.2", "127.0.0.1"]]
    }
    var named = HTTPRequest(.post, try #require(URL(string: "http://dual.test:\(web.port)/")))
    named.origin = URL(string: "http://127.0.0.1/")
    #expect(bench.run(named).response?.status == 200)
    let error = bench.run(named).error
    #expect(error?.kind == .send && error?.cause.contains("not retried automatically") == true, "\(error as Any)")
  }

  @Test func `after a redirect from private to public, a redirect back is refused`() throws {
    let inside = Self.answering()
    let web = redirecting(to: inside.url())
    let other = RawOrigin.answering(at: "127.0.0.3") { _ in
      RawOrigin.answer("302 Found", ["Location: \(web.url().absoluteString)"])
    }
    defer {
      inside.stop()
      web.stop()
      other.stop()
    }
    let error = Self.bench().run(other.url()).error
    #expect(error?.kind == .privateNetwork)
    #expect(error?.cause == "127.0.0.2 is on a private network, but 127.0.0.1:\(web.port), which led to it, is not")
    #expect(inside.accepted == 0)
  }

  @Test func `a cached redirect is checked like its server's redirect`() {
    let inside = Self.answering()
    let other = RawOrigin.answering(at: "127.0.0.3") { _ in
      RawOrigin.answer(
        "301 Moved Permanently", ["Cache-Control: max-age=100", "Location: \(inside.url().absoluteString)"])
    }
    defer {
      inside.stop()
      other.stop()
    }
    let bench = Self.bench()
    let cached = bench.client.cached(in: MemoryHTTPCache())
    for _ in 0..<2 {
      let probe = HTTPProbe()
      cached.get(HTTPRequest(other.url())).subscribe(probe)
      bench.loop.run()
      #expect(probe.response?.url == inside.url())
    }
    #expect(other.accepted == 1)
  }

  @Test func `a response knows whether it came from a private network, complete or streamed`() {
    let inside = Self.answering()
    let web = RawOrigin.answering { _ in RawOrigin.answer("200 OK", [], Data("x".utf8)) }
    defer {
      inside.stop()
      web.stop()
    }
    let bench = Self.bench()
    #expect(bench.run(inside.url()).response?.isPrivate == true)
    #expect(bench.run(web.url()).response?.isPrivate == false)
    var heads: [Bool?] = []
    for url in [inside.url(), web.url()] {
      let subscription = bench.client.open(HTTPRequest(url)).sink { _ in
      } receiveValue: {
        heads.append($0.isPrivate)
      }
      bench.loop.run()
      subscription.cancel()
    }
    #expect(heads == [true, false])
  }

  @Test func `a request cancelled while its host is looked up ends`() {
    let inside = Self.answering()
    defer { inside.stop() }
    let bench = Self.bench()
    var named = HTTPRequest(inside.url())
    named.origin = URL(string: "http://127.0.0.1/")
    let probe = bench.get(named)
    bench.loop.schedule(after: bench.loop.now.advanced(by: .milliseconds(1))) { probe.cancel() }
    bench.loop.run()
    #expect(probe.responses.isEmpty)
  }
}
