import FeedStream
import Foundation
import TestSupport
import Testing

@testable import feed

/// `feed serve --loops`: the system distributes connections among the loops, so each test opens many.
@Suite(.settled, .timeLimit(.minutes(5))) struct ServeLoopsTests {
  private static let connections = 24

  /// The results of ``connections`` simultaneous connections.
  private func together<T: Sendable>(_ ask: @escaping @Sendable () async throws -> T) async throws -> [T] {
    try await withThrowingTaskGroup(of: T.self) { group in
      for _ in 0..<Self.connections { group.addTask { try await ask() } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  @Test func `every loop serves the whole site, and the feed is loaded once`() async throws {
    try await withGallery(["sea", "hill"], "--loops", "3", every: "1h") { port, origin, _ in
      for (path, text) in [
        ("/", "alt=\"hill\""), ("/health", "OK"), ("/feed.json", "hill"), ("/feed.atom", "hill"), ("/style.css", "{"),
        ("/slideshow", "sea"), ("/metrics", "feed_checks_total{feed=\"http://127.0.0.1:"), ("/?q=hill", "alt=\"hill\""),
      ] {
        for answer in try await together({ try await get(port, path) }) {
          #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.contains(text), "\(path)")
          #expect(answer.contains("X-Content-Type-Options: nosniff\r\n"), "\(path)")
        }
      }
      let image = try #require(try await imagePaths(port).first)
      #expect(try await together { try await get(port, image) }.allSatisfy { $0.contains("GIF89a") })
      #expect(try await together { try await get(port, "/nothing") }.allSatisfy { $0.hasPrefix("HTTP/1.1 404") })
      #expect(try await together { try await get(port, image + "?w=0") }.allSatisfy { $0.hasPrefix("HTTP/1.1 400") })
      #expect(await origin.asked.count { $0 == "/feed.json" } == 1)
      #expect(await origin.asked.count { $0 == "/0" } == 1)
    }
  }

  @Test func `clients of every loop get the same events with the same ids`() async throws {
    try await withGallery(["old"], "--loops", "3") { port, origin, _ in
      let events = "GET /events HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n"
      async let streams = together { try await ask(port, events, upTo: "\"images\":2,") }
      // Wait until all clients are connected before the feed changes.
      try await waitForEventClients(Self.connections, at: port)
      try await origin.start(["new", "old"])
      let ids = try await streams.map { stream in
        #expect(stream.contains("event: hello\ndata: {\"away\":[],\"failing\":0,\"images\":1,"))
        return stream.components(separatedBy: "\n\n").last { $0.contains("event: items") }?
          .split(separator: "\n").first { $0.hasPrefix("id: ") }
      }
      #expect(ids.count == Self.connections && Set(ids).count == 1 && ids[0] != nil)
      #expect(try await together { try await get(port, "/") }.allSatisfy { $0.contains("alt=\"new\"") })
    }
  }

  @Test func `wrong tokens are counted across all loops`() async throws {
    try await withGallery(["a"], "--loops", "3", "--token", "sesame") { port, _, _ in
      let answers = try await together { try await get(port, "/?token=wrong") }
      let refused = answers.count { $0.hasPrefix("HTTP/1.1 401") }
      #expect((10...15).contains(refused), "one more every six seconds: \(refused)")
      #expect(answers.count { $0.hasPrefix("HTTP/1.1 429") } == Self.connections - refused)
    }
  }

  @Test func `clients that disconnect early don't stop the server`() async throws {
    try await withGallery(["a"], "--loops", "3") { port, _, _ in
      _ = try await together { try await ask(port, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", upTo: "HTTP/1.1") }
      #expect(try await together { try await get(port, "/") }.allSatisfy { $0.contains("</html>") })
    }
  }

  @Test func `an invalid --loops is a usage error`() async throws {
    for wrong in ["0", "65", "x"] {
      let run = try RunningFeed(["serve", "--loops", wrong, "http://127.0.0.1:9/feed.json"])
      #expect(await run.status() == 64, "\(wrong)")
    }
  }
}
