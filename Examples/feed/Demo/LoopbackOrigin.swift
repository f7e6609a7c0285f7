import FlyingFox
import FlyingSocks
import Foundation

/// A correct HTTP server on 127.0.0.1 that serves one document and can be stopped and started again.
actor LoopbackOrigin {
  /// The body of its answers.
  var body: Data
  var status = 200
  /// How many requests it has received.
  private(set) var requestCount = 0

  private var running: (server: HTTPServer, task: Task<Void, any Error>)?
  private var port: UInt16 = 0

  init(serving body: Data) { self.body = body }

  func setAnswer(status: Int = 200, body: Data) {
    self.status = status
    self.body = body
  }

  /// Listens, on its former port if there is one.
  ///
  /// - Returns: the document's address.
  @discardableResult func start() async throws -> URL {
    let server = try HTTPServer(address: .inet(ip4: "127.0.0.1", port: port), logger: .disabled)
    await server.appendRoute("*") { [self] _ in await answer() }
    let task = Task { try await server.run() }
    running = (server, task)
    try await server.waitUntilListening()
    guard case .ip4(_, let port) = await server.listeningAddress else { throw SocketError.unsupportedAddress }
    self.port = port
    return URL(string: "http://127.0.0.1:\(port)/feed.json")!
  }

  /// Closes its connections and stops listening: later connections are refused.
  func stop() async {
    guard let (server, task) = running else { return }
    running = nil
    await server.stop()
    _ = await task.result
  }

  private func answer() -> HTTPResponse {
    requestCount += 1
    return HTTPResponse(statusCode: HTTPStatusCode(status, phrase: ""), body: body)
  }
}
