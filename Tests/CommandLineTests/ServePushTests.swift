import FeedPolling
import Foundation
import TestSupport
import Testing

@testable import feed

/// The requests of hubs to `feed serve`.
@Suite(.settled) struct ServePushTests {
  @Test func `a callback's path needs no token, and nothing next to it is let in`() {
    #expect(Site.isPush("/websub/0123456789abcdef"))
    for path in [
      "/websub", "/websub/../feed.json", "/websub/%2e%2e/feed.json", "/websub/a/b", "/websubs/a", "/", "/websub/A",
      "/websub/a?b",
    ] {
      #expect(!Site.isPush(path), "\(path)")
    }
  }

  @Test func `a server with a public URL answers hubs, and the rest still needs the token`() async throws {
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
}
