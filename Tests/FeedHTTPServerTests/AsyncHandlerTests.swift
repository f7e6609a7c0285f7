import FeedHTTPServer
import FeedStream
import Foundation
import Synchronization
import TestSupport
import Testing

/// Handlers that are `async` functions, each in its own task, for a server on a real loop.
@Suite(.settled, .timeLimit(.minutes(5))) struct AsyncHandlerTests {
  /// Counts the actions of an `async` handler.
  private actor Desk {
    private var started = 0
    func start() -> Int {
      started += 1
      return started
    }
  }

  /// Runs a test on its own thread, because tasks share few threads, one of which a running loop would occupy.
  private func onThread(_ test: @escaping @Sendable (AsyncBench) throws -> Void) async throws {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      Thread.detachNewThread { done.resume(with: Result { try test(AsyncBench()) }) }
    }
  }

  @Test func `an async handler receives the whole request, and its response is sent`() async throws {
    try await onThread { bench in
      let desk = Desk()
      var routes = HTTPRoutes()
      routes.onAsync(.post, "/feeds/:id") { request in
        let number = await desk.start()
        let query = request.query ?? ""
        return .text(
          "\(number) \(request.parameters["id"] ?? "") \(query) \(request.headers["Host"] ?? "") \(request.body.text)")
      }
      let (server, serving) = try bench.server(routes)
      let both = bench.request("POST /feeds/7?a=b", "hello", closes: false) + bench.request("POST /feeds/8", "again")
      let said = bench.ask(server, both)
      #expect(said.contains("1 7 a=b h hello") && said.hasSuffix("2 8  h again"), "\(said)")
      serving.cancel()
      server.close()
      bench.loop.run()
    }
  }

  @Test func `an error thrown by an async handler is mapped like any handler's error`() async throws {
    try await onThread { bench in
      struct Boom: Error {}
      var routes = HTTPRoutes()
      routes.usesProblems = true
      routes.onAsync(.get, "/gone") { _ in throw HTTPStatus.gone }
      routes.onAsync(.get, "/problem") { _ in throw ProblemDetails(.conflict, detail: "Two of them.") }
      routes.onAsync(.get, "/boom") { _ in throw Boom() }
      let (server, serving) = try bench.server(routes)
      var reports: [String] = []
      server.onError = { reports.append("\($0.error)") }
      #expect(bench.ask(server, bench.request("GET /gone")).hasPrefix("HTTP/1.1 410"))
      let problem = bench.ask(server, bench.request("GET /problem"))
      #expect(problem.hasPrefix("HTTP/1.1 409") && problem.contains("Two of them."))
      let boom = bench.ask(server, bench.request("GET /boom"))
      #expect(boom.hasPrefix("HTTP/1.1 500") && boom.contains("application/problem+json") && !boom.contains("Boom"))
      #expect(reports == ["Boom()"])
      serving.cancel()
      server.close()
      bench.loop.run()
    }
  }

  @Test func `a body over the limit never reaches an async handler`() async throws {
    try await onThread { bench in
      let desk = Desk()
      var routes = HTTPRoutes()
      routes.onAsync(.post, "/") { _ in .text("\(await desk.start())") }
      routes.limitBody(.post, "/", to: 4)
      let (server, serving) = try bench.server(routes)
      #expect(bench.ask(server, bench.request("POST /", "hello")).hasPrefix("HTTP/1.1 413"))
      #expect(bench.ask(server, bench.request("POST /", "four")).hasSuffix("\r\n\r\n1"))
      serving.cancel()
      server.close()
      bench.loop.run()
    }
  }

  @Test func `an async handler's task is cancelled when the client disconnects`() async throws {
    try await onThread { bench in
      let begun = DispatchSemaphore(value: 0)
      let ended = Mutex(false)
      var routes = HTTPRoutes()
      routes.onAsync(.get, "/") { _ in
        begun.signal()
        // This sleep ends only by cancellation.
        do { try await Task.sleep(for: .seconds(600)) } catch { ended.withLock { $0 = true } }
        return .text("late")
      }
      let (server, serving) = try bench.server(routes)
      let client = bench.rawClient(of: server, bench.request("GET /", closes: false))
      let watching = bench.loop.schedule(after: bench.loop.now, interval: .milliseconds(1)) {
        if begun.wait(timeout: .now()) == .success { AsyncBench.breakOff(client) }
        if ended.withLock({ $0 }) { bench.loop.stop() }
      }
      bench.loop.run()
      #expect(server.connectionCount == 0)
      serving.cancel()
      watching.cancel()
      server.close()
      bench.loop.run()
    }
  }

  @Test func `a slow async handler delays no other client`() async throws {
    try await onThread { bench in
      let gate = AsyncStream<Void>.makeStream()
      var routes = HTTPRoutes()
      routes.onAsync(.get, "/slow") { _ in
        for await _ in gate.stream { break }
        return .text("slow")
      }
      routes.onAsync(.get, "/quick") { _ in .text("quick") }
      let (server, serving) = try bench.server(routes)
      var answers: [String] = []
      func asking(_ path: String) -> AnyCancellable {
        var said = ""
        return Connection.connect(to: server.address!, on: bench.loop)
          .flatMap { connection in
            let sent = Just(Chunk(bench.request("GET \(path)"))).write(to: connection).catch { _ in
              Empty<Never, Never>()
            }
            .map { (_: Never) -> Chunk in }.setFailureType(to: SystemError.self)
            return connection.bytes.merge(with: sent)
          }
          .sink { _ in
            answers.append(said.components(separatedBy: "\r\n\r\n").last ?? "")
            if answers.count == 2 { bench.loop.stop() } else { gate.continuation.yield() }
          } receiveValue: {
            said += $0.text
          }
      }
      let all = ["/slow", "/quick"].map(asking)
      bench.loop.run()
      #expect(answers == ["quick", "slow"])
      for subscription in all + [serving] { subscription.cancel() }
      server.close()
      bench.loop.run()
    }
  }
}

/// A loop, and clients of the servers on it.
private final class AsyncBench {
  let loop = EventLoop()

  func server(_ routes: HTTPRoutes) throws -> (HTTPServer, AnyCancellable) {
    let server = try HTTPServer(at: .internet("127.0.0.1", port: 0), on: loop)
    return (server, server.serve(routes))
  }

  /// Sends requests over one connection, and returns the bytes that arrive until the server closes it.
  func ask(_ server: HTTPServer, _ text: String) -> String {
    var said = ""
    let asking = Connection.connect(to: server.address!, on: loop)
      .flatMap { connection in
        let sent = Just(Chunk(text)).write(to: connection).catch { _ in Empty<Never, Never>() }
          .map { (_: Never) -> Chunk in }.setFailureType(to: SystemError.self)
        return connection.bytes.merge(with: sent)
      }
      .sink { [loop] _ in
        loop.stop()
      } receiveValue: {
        said += $0.text
      }
    loop.run()
    asking.cancel()
    return said
  }

  func request(_ line: String, _ body: String = "", closes: Bool = true) -> String {
    "\(line) HTTP/1.1\r\nHost: h\r\n\(closes ? "Connection: close\r\n" : "")Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  /// Connects, sends a text, and leaves the connection open.
  func rawClient(of server: HTTPServer, _ text: String) -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let code = withLoopbackAddress(port: server.address?.port ?? 0) { connect(descriptor, $0, $1) }
    precondition(code == 0 && send(descriptor, text, text.utf8.count, 0) == text.utf8.count, "the client cannot ask")
    return descriptor
  }

  /// Closes a connection with a reset.
  static func breakOff(_ descriptor: Int32) {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    close(descriptor)
  }
}
