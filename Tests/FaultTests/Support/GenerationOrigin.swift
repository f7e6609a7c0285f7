import FlyingFox
import Foundation

/// A server on 127.0.0.1 whose every answer is another generation of the feed, unless one is chosen.
actor GenerationOrigin {
  /// How many requests there were.
  private(set) var requests = 0
  private var chosen: Int?
  private var held: [Int: CheckedContinuation<Void, Never>] = [:]
  private var holds = 0
  private var server: HTTPServer?
  private var task: Task<Void, any Error>?

  /// Answers with this generation from now on.
  func choose(_ number: Int) { chosen = number }

  /// Keeps the answers to the next requests back, until they are let go.
  func hold(next count: Int) { holds = count }

  /// Lets the answer to a request go that is kept back: the first request is 1.
  func letGo(_ request: Int) async {
    while held[request] == nil { await Task.yield() }
    held.removeValue(forKey: request)?.resume()
  }

  /// Waits until there were so many requests.
  func wait(for count: Int) async {
    while requests < count { await Task.yield() }
  }

  func start() async throws -> String {
    let server = try HTTPServer(address: .inet(ip4: "127.0.0.1", port: 0), logger: .disabled)
    await server.appendRoute("*") { [self] _ in await answer() }
    task = Task { try await server.run() }
    self.server = server
    try await server.waitUntilListening()
    guard case .ip4(_, let port) = await server.listeningAddress else { fatalError("an address of IPv4 was asked for") }
    return "http://127.0.0.1:\(port)/feed.json"
  }

  func stop() async {
    for waiting in held.values { waiting.resume() }
    held = [:]
    await server?.stop()
    _ = await task?.result
  }

  private func answer() async -> HTTPResponse {
    requests += 1
    let number = chosen ?? requests
    let request = requests
    if holds > 0 {
      holds -= 1
      await withCheckedContinuation { held[request] = $0 }
    }
    return HTTPResponse(statusCode: .ok, body: Generation.document(number))
  }
}

/// A folder, and an origin; both are gone after `body`.
func withBench<R>(
  isolation: isolated (any Actor)? = #isolation,
  _ body: (_ folder: String, _ origin: GenerationOrigin, _ url: String) async throws -> R
) async throws -> R {
  let folder = FileManager.default.temporaryDirectory.appending(path: "FaultTests-\(UUID())").path
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: folder) }
  let origin = GenerationOrigin()
  let url = try await origin.start()
  do {
    let result = try await body(folder, origin, url)
    await origin.stop()
    return result
  } catch {
    await origin.stop()
    throw error
  }
}
