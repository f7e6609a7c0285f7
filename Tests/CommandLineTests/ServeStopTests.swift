import FeedStream
import Foundation
import TestSupport
import Testing

/// `feed serve` when it is stopped while clients are connected.
@Suite(.settled, .timeLimit(.minutes(5))) struct ServeStopTests {
  @Test(arguments: [1, 3])
  func `a stop responds to requests that cross it, and event streams end with a whole event`(loops: Int) async throws {
    try await withFolder { folder in
      let origin = try ImageOrigin()
      let url = try await origin.start(["sea"])
      let cache = folder.appendingPathComponent("feeds.db").path
      let run = try RunningFeed(["serve", "--loops", "\(loops)", "--port", "0", "--cache", cache, url])
      let number = try port(of: try #require(await run.output.line()))
      let clients = await clients(of: number) { run.send(SIGTERM) }
      #expect(clients.allSatisfy { $0.responses.components(separatedBy: "HTTP/1.1 200 OK\r\n").count == 3 })
      #expect(clients.allSatisfy { $0.responses.hasSuffix("</html>\n") })
      #expect(clients.allSatisfy { $0.events.contains("event: hello\n") && $0.events.hasSuffix("\n\n") })
      #expect(await run.status() == 143)
      await origin.stop()
      origin.thread.shutdown()
    }
  }

  /// The bytes that 24 clients receive: half of them request the health page again right after `stop`, and the other
  /// half listen for events. `stop` is called when all have received their first bytes.
  private func clients(
    of port: Int, stop: @escaping @Sendable () -> Void
  ) async -> [(responses: String, events: String)] {
    await withCheckedContinuation { done in
      Thread.detachNewThread {
        let loop = EventLoop()
        defer { loop.close() }
        let paths = (0..<24).map { $0 < 12 ? "/health" : "/events" }
        var received = paths.map { _ in Chunk() }
        var connections: [Int: Connection] = [:]
        var sending: Set<AnyCancellable> = []
        func ask(_ client: Int) {
          guard let connection = connections[client] else { return }
          Just(Chunk("GET \(paths[client]) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")).write(to: connection)
            .sink(receiveCompletion: { _ in }, receiveValue: { _ in }).store(in: &sending)
        }
        let all = paths.indices.publisher.setFailureType(to: SystemError.self)
          .flatMap { client in
            Connection.connect(to: .internet("127.0.0.1", port: port), on: loop)
              .flatMap { connection in
                connections[client] = connection
                ask(client)
                return connection.bytes.map { (client, $0) }
              }
          }
          .timeout(.seconds(60), scheduler: loop)
          .sink { _ in
            loop.stop()
          } receiveValue: { client, bytes in
            let isFirst = received[client].isEmpty
            received[client] = Chunk(joining: [received[client], bytes])
            guard isFirst, received.allSatisfy({ !$0.isEmpty }) else { return }
            stop()
            for client in 0..<12 { ask(client) }
          }
        loop.run()
        all.cancel()
        done.resume(returning: (0..<12).map { (received[$0].text, received[$0 + 12].text) })
      }
    }
  }
}
