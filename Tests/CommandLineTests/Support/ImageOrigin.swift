import FeedHTTPServer
import FeedStream
import Foundation
import TestSupport
import Testing

/// A server of a feed and its images, on its own loop.
actor ImageOrigin {
  nonisolated let thread: EventLoopThread
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.loop.asUnownedSerialExecutor() }

  private var server: HTTPServer?
  private var serving: AnyCancellable?
  private var descriptions: [String] = []
  private var images: [String: (bytes: Chunk, lifetime: Int)] = [:]
  private(set) var asked: [String] = []
  /// The number of conditional requests for the feed to which the server responded that nothing has changed.
  private(set) var unchanged = 0
  private var feedFields: [(String, String)] = []
  nonisolated var port: Int { reserved.number }
  /// While the server is stopped, no other test's server gets its port.
  private nonisolated let reserved: ReservedPort

  init() throws {
    thread = try EventLoopThread(name: "origin")
    reserved = try ReservedPort()
  }

  /// Serves a feed of images with these descriptions, on the same port as before if it was started before.
  ///
  /// - Returns: the feed's URL.
  @discardableResult func start(_ descriptions: [String]) throws -> String {
    self.descriptions = descriptions
    if server == nil {
      let server = try HTTPServer(at: .internet("127.0.0.1", port: port), on: thread.loop)
      serving = server.serve { self.answer($0) }
      self.server = server
    }
    return "http://127.0.0.1:\(port)/feed.json"
  }

  func stop() {
    serving?.cancel()
    server?.close()
    (server, serving) = (nil, nil)
  }

  /// Makes a path respond with these bytes.
  func serve(_ image: Chunk, at path: String, lifetime: Int = 3_600) { images[path] = (image, lifetime) }

  /// Sends these fields with the feed.
  func send(withFeed fields: [(String, String)]) { feedFields = fields }

  private func answer(_ request: ServerRequest) -> ServerResponse {
    asked.append(request.path)
    guard request.path == "/feed.json" else {
      if let image = images[request.path] {
        return .init(
          headers: ["Content-Type": "image/any", "Cache-Control": "max-age=\(image.lifetime)"], body: image.bytes)
      }
      // Only the first path has an image; the others have pages.
      return request.path == "/0"
        ? .init(headers: ["Content-Type": "text/html"], body: Self.gif) : .html("<p>no image")
    }
    if let tag = feedFields.first(where: { $0.0 == "ETag" })?.1, request.headers["If-None-Match"] == tag {
      unchanged += 1
      return .init(.notModified)
    }
    let items = descriptions.enumerated().map { index, text in
      [
        "id": "00000000-0000-0000-0000-" + String(format: "%012d", index), "description": text,
        "image": "http://127.0.0.1:\(port)/\(index)",
      ]
    }
    var response = ServerResponse.json(Chunk((try? JSONEncoder().encode(["items": items])) ?? Data()))
    for (name, value) in feedFields { response.headers[name] = value }
    return response
  }

  static let gif = Chunk(
    Array("GIF89a".utf8) + [
      1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B,
    ])
}

/// Calls `body` with `feed serve` of a feed that has images with these descriptions, when it shows them; ends it
/// afterwards.
func withGallery(
  _ descriptions: [String], _ arguments: String..., every interval: String = "50ms",
  body: (_ port: Int, _ origin: ImageOrigin, _ run: RunningFeed) async throws -> Void
) async throws {
  try await withFolder { folder in
    let origin = try ImageOrigin()
    let url = try await origin.start(descriptions)
    let cache = folder.appendingPathComponent("feeds.db").path
    let run = try RunningFeed(
      ["serve", "--port", "0", "--every", interval, "--images-ahead", "0", "--cache", cache, url] + arguments)
    let number = try port(of: #require(await run.output.line()))
    // The page is served before its feed has arrived.
    let token = "Authorization: Bearer sesame\r\n"
    let none = "feed_checks_total{feed=\"\(url)\"} 0\n"
    try await wait(while: try await get(number, "/metrics", token).contains(none))
    try await wait(while: try await imagePaths(number, token).isEmpty)
    do {
      try await body(number, origin, run)
    } catch {
      Issue.record(error)
    }
    run.send(SIGTERM)
    #expect(await run.status() == 143)
    await origin.stop()
    origin.thread.shutdown()
  }
}
