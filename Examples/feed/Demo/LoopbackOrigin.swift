import FeedHTTPServer
import FeedStream
import Foundation

/// A conforming HTTP server on 127.0.0.1 that serves one document, and that can be stopped and started again.
///
/// The server runs on its own loop, so that it responds while other threads are busy. Stop the server before you
/// release it.
actor LoopbackOrigin {
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.loop.asUnownedSerialExecutor() }

  /// The body of its responses.
  var body: Data
  var status = 200
  /// The number of requests received.
  private(set) var requestCount = 0

  private let thread: EventLoopThread
  private var running: (server: HTTPServer, serving: AnyCancellable)?
  private var port: Int

  /// - Parameter port: the port on which the server listens; 0 for one that the system chooses. While the server is
  ///   stopped, another program may get a port that the system chose.
  init(serving body: Data, port: Int = 0) throws {
    thread = try EventLoopThread(name: "origin")
    self.body = body
    self.port = port
  }

  func setAnswer(status: Int = 200, body: Data) {
    self.status = status
    self.body = body
  }

  /// Starts listening. If the server was started before, it uses the same port again.
  ///
  /// - Returns: the document's URL.
  @discardableResult func start() throws -> URL {
    let server = try HTTPServer(at: .internet("127.0.0.1", port: port), on: thread.loop)
    running = (server, server.serve { [self] _ in answer() })
    port = server.address?.port ?? 0
    return URL(string: "http://127.0.0.1:\(port)/feed.json")!
  }

  /// Closes its connections and stops listening: later connections are refused.
  func stop() {
    running?.server.close()
    running = nil
  }

  private func answer() -> ServerResponse {
    requestCount += 1
    return ServerResponse(HTTPStatus(status), body: Chunk(body))
  }
}
