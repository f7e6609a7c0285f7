import FeedPolling
import Foundation
import TestSupport
import Testing

@testable import feed

/// The requests of hubs to `feed serve`.
@Suite(.settled) struct ServePushTests {
  /// The response of the server's own hub.
  private func subscribe(
    _ port: Int, _ topic: String, type: String = "application/x-www-form-urlencoded"
  ) async throws -> String {
    let encoded = try #require(topic.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    let form = "hub.mode=subscribe&hub.callback=http%3A%2F%2F127.0.0.1%3A9%2Fcallback&hub.topic=\(encoded)"
    return try await ask(
      port,
      "POST /hub HTTP/1.1\r\nHost: feeds.example.com\r\nConnection: close\r\nContent-Type: \(type)\r\n"
        + "Content-Length: \(form.utf8.count)\r\n\r\n\(form)")
  }

  @Test func `a hub's callback path needs no token, and no other path is exempt`() {
    #expect(Site.isPush("/websub/0123456789abcdef"))
    for path in [
      "/websub", "/websub/../feed.json", "/websub/%2e%2e/feed.json", "/websub/a/b", "/websubs/a", "/", "/websub/A",
      "/websub/a?b",
    ] {
      #expect(!Site.isPush(path), "\(path)")
    }
  }

  @Test func `a server with a public URL responds to hubs, and other requests still need the token`() async throws {
    try await withOrigin(serving: document("A view")) { _, url, cache in
      let run = try RunningFeed([
        "serve", url, "--port", "0", "--token", "sesame", "--public-url", "https://feeds.example.com", "--cache", cache,
      ])
      let port = try port(of: try #require(await run.output.read(upTo: "\n")))
      let query = "hub.mode=subscribe&hub.topic=x&hub.challenge=y&hub.lease_seconds=900"
      #expect(try await get(port, "/websub/abc?\(query)").hasPrefix("HTTP/1.1 404"))
      let body = String(repeating: "n", count: 100_000)
      let announcement =
        "POST /websub/abc HTTP/1.1\r\nHost: feeds.example.com\r\nConnection: close\r\nContent-Length: 100000\r\n\r\n"
      #expect(try await ask(port, announcement + body).hasPrefix("HTTP/1.1 410"))
      #expect(try await get(port, "/feed.json").hasPrefix("HTTP/1.1 401"))
      #expect(try await !get(port, "/websub/../feed.json").hasPrefix("HTTP/1.1 200"))
      run.send(SIGTERM)
      _ = await run.status()
    }
  }

  @Test func `the served feeds normalize the public URL, and clients can subscribe to that one`() async throws {
    try await withOrigin(serving: document("A view")) { _, url, cache in
      let run = try RunningFeed([
        "serve", url, "--port", "0", "--public-url", "https://Feeds.Example.com:443", "--cache", cache,
      ])
      let port = try port(of: try #require(await run.output.read(upTo: "\n")))
      for host in ["feeds.example.com", "FEEDS.example.com.:443"] {
        let atom = try await ask(port, "GET /feed.atom HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
        #expect(atom.contains("<link rel=\"hub\" href=\"https://feeds.example.com/hub\"/>"), "\(host)")
        #expect(atom.contains("<link rel=\"self\" href=\"https://feeds.example.com/feed.atom\"/>"), "\(host)")
      }
      let other = "feeds.example.com:8443"
      let atom = try await ask(port, "GET /feed.atom HTTP/1.1\r\nHost: \(other)\r\nConnection: close\r\n\r\n")
      #expect(atom.contains("href=\"http://\(other)/feed.atom\"") && !atom.contains("rel=\"hub\""), "another port")
      #expect(try await subscribe(port, "https://feeds.example.com/feed.atom").hasPrefix("HTTP/1.1 202"))
      run.send(SIGTERM)
      _ = await run.status()
    }
  }

  @Test func `the served feeds name serve's own hub, which accepts subscriptions without the token`() async throws {
    try await withOrigin(serving: document("A view")) { _, url, cache in
      let run = try RunningFeed([
        "serve", url, "--port", "0", "--token", "sesame", "--public-url", "https://feeds.example.com", "--cache", cache,
      ])
      let port = try port(of: try #require(await run.output.read(upTo: "\n")))
      func named(_ path: String) async throws -> String {
        try await ask(port, "GET \(path) HTTP/1.1\r\nHost: feeds.example.com\r\nConnection: close\r\n\r\n")
      }
      let topic = "https://feeds.example.com/feed.atom?token=sesame"
      let atom = try await named("/feed.atom?token=sesame")
      #expect(atom.contains("<link rel=\"hub\" href=\"https://feeds.example.com/hub\"/>"), "\(atom)")
      #expect(atom.contains("Link: <https://feeds.example.com/hub>; rel=\"hub\", <\(topic)>; rel=\"self\""))
      #expect(try await named("/feed.json?token=sesame").contains("\"hubs\""))
      #expect(try await !get(port, "/feed.atom?token=sesame").contains("rel=\"hub\""), "not by another URL")
      #expect(try await subscribe(port, topic).hasPrefix("HTTP/1.1 202"))
      let withoutToken = try await subscribe(port, "https://feeds.example.com/feed.atom")
      #expect(withoutToken.hasPrefix("HTTP/1.1 404"))
      #expect(try await subscribe(port, topic, type: "text/plain").hasPrefix("HTTP/1.1 415"))
      #expect(try await get(port, "/hub").hasPrefix("HTTP/1.1 405"))
      run.send(SIGTERM)
      _ = await run.status()
    }
  }
}
