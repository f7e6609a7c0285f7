import FeedHTTPServer
import FeedStream
import Foundation
import TestSupport
import Testing

@testable import feed

/// A server of a JSON Feed in three pages of two images; the third page names a fourth that doesn't exist.
private actor PagedOrigin {
  nonisolated let thread: EventLoopThread
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.loop.asUnownedSerialExecutor() }
  private var server: HTTPServer?
  private var serving: AnyCancellable?
  private(set) var asked: [String] = []

  init() throws { thread = try EventLoopThread(name: "pages") }

  func start() throws -> String {
    let server = try HTTPServer(at: .internet("127.0.0.1", port: 0), on: thread.loop)
    let address = "http://127.0.0.1:\(server.address?.port ?? 0)/feed.json"
    serving = server.serve { request in
      let page = Int(request.query ?? "") ?? 0
      self.asked.append(request.query ?? "")
      guard page < 3 else { return .init(.notFound) }
      let items = [2 * page, 2 * page + 1].map { "{\"id\": \"\($0)\", \"image\": \"http://a/\($0).png\"}" }
      return .json(
        Chunk(
          "{\"version\": \"https://jsonfeed.org/version/1.1\", \"next_url\": \"\(address)?\(page + 1)\", "
            + "\"items\": [{\"id\": \"none\(page)\"}, \(items.joined(separator: ", "))]}"))
    }
    self.server = server
    return address
  }

  func stop() {
    serving?.cancel()
    server?.close()
    (server, serving) = (nil, nil)
  }
}

@Suite(.settled) struct PagesCommandTests {
  private func load(_ arguments: String...) async throws -> (run: FeedBinary.Ending, asked: [String]) {
    try await withFolder { folder in
      let origin = try PagedOrigin()
      let url = try await origin.start()
      let run = try await FeedBinary.run(
        ["load", url, "--cache", folder.appendingPathComponent("feeds.db").path] + arguments)
      let asked = await origin.asked
      await origin.stop()
      origin.thread.shutdown()
      return (run, asked)
    }
  }

  @Test func `pages are shown as one list, and at most --pages pages are requested`() async throws {
    let (run, asked) = try await load("--pages", "2")
    #expect(run.status == 0 && run.errors == "")
    #expect(run.output.contains("4 images from "))
    #expect(run.output.contains("\n2 items have no image and aren't shown\n"))
    #expect(run.output.hasSuffix("4. (no description)\n   http://a/3.png\n"))
    #expect(asked == ["", "1"])
  }

  @Test func `JSON of several pages is one line`() async throws {
    let (run, _) = try await load("--pages", "3", "--format", "json")
    let line = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
    #expect((line["feed"] as? [[String: Any]])?.count == 6)
    #expect(line["origin"] as? String == "remote")
  }

  @Test func `a page that can't be loaded is a warning, and the earlier pages are shown`() async throws {
    let (run, asked) = try await load("--pages", "9")
    #expect(run.status == 0)
    #expect(run.output.contains("6 images from "))
    #expect(run.errors.hasPrefix("Warning: Page 4 is not shown. The server responded with status 404"))
    #expect(asked == ["", "1", "2", "3"])
  }

  @Test(arguments: [
    (["load", "--pages", "2"], "--pages is for one feed"), (["load", "http://a", "--pages", "0"], "at least 1"),
    (["load", "http://a", "http://b", "--pages", "2"], "--pages is for one feed"),
    (["load", "http://a", "--opml", "list.opml", "--pages", "2"], "--pages is for one feed"),
    (["load", "http://a", "--pages", "2", "--offline"], "--pages can't be combined with"),
  ])
  func `--pages must be at least 1 and takes a single URL`(arguments: [String], message: String) async throws {
    let run = try await FeedBinary.run(arguments)
    #expect(run.status == 64 && run.errors.contains(message))
  }
}
