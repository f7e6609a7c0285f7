import FeedHTTPServer
import FeedStream
import Foundation
import TestSupport

/// A server on 127.0.0.1 whose every response is another generation of the feed, unless one is chosen.
actor GenerationOrigin {
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.loop.asUnownedSerialExecutor() }

  /// The number of requests so far.
  private(set) var requests = 0
  private var chosen: Int?
  /// The responses to the requests that are held back.
  private var held: [Int: () -> Void] = [:]
  private var holds = 0
  /// Resumed when a request has arrived.
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private let thread: EventLoopThread
  private var running: (server: HTTPServer, serving: AnyCancellable)?
  /// After the server has stopped, no other test's server gets its port.
  private let reserved: ReservedPort

  init() throws {
    thread = try EventLoopThread(name: "origin")
    reserved = try ReservedPort()
  }

  /// Responds with this generation from now on.
  func choose(_ number: Int) { chosen = number }

  /// Holds the responses to the next requests until ``letGo(_:)`` is called for each.
  func hold(next count: Int) { holds = count }

  /// Sends the response to a held request, and waits for the request if need be. The first request is 1.
  func letGo(_ request: Int) async {
    while held[request] == nil { await nextRequest() }
    held.removeValue(forKey: request)?()
  }

  /// Waits until `count` requests have arrived.
  func wait(for count: Int) async {
    while requests < count { await nextRequest() }
  }

  private func nextRequest() async {
    await withCheckedContinuation { waiting.append($0) }
  }

  func start() throws -> String {
    let server = try HTTPServer(at: .internet("127.0.0.1", port: reserved.number), on: thread.loop)
    running = (server, server.serve { [self] _ in answer() })
    return "http://\(server.address!)/feed.json"
  }

  func stop() {
    held = [:]
    running?.server.close()
    running = nil
  }

  private func answer() -> Future<ServerResponse, Never> {
    requests += 1
    // The waiting tasks continue after this function, when the response is held.
    defer {
      for waiter in waiting { waiter.resume() }
      waiting = []
    }
    let response = ServerResponse(body: Chunk(Generation.document(chosen ?? requests)))
    return Future<ServerResponse, Never> { promise in
      guard holds > 0 else { return promise(.success(response)) }
      holds -= 1
      held[requests] = { promise(.success(response)) }
    }
  }
}

/// Calls `body` with a folder and an origin; removes both afterwards.
func withBench<R>(
  isolation: isolated (any Actor)? = #isolation,
  _ body: (_ folder: String, _ origin: GenerationOrigin, _ url: String) async throws -> R
) async throws -> R {
  let folder = TemporaryFolder()
  defer { withExtendedLifetime(folder) {} }
  let origin = try GenerationOrigin()
  let url = try await origin.start()
  do {
    let result = try await body(folder.path, origin, url)
    await origin.stop()
    return result
  } catch {
    await origin.stop()
    throw error
  }
}
