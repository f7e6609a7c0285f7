import FeedStream
import Foundation
import Testing

/// Sends bytes to a server on this machine.
///
/// - Parameter end: the text to wait for; without it, waits for the end of the connection.
/// - Returns: the bytes that the server sent until then.
func ask(_ port: Int, _ request: String, upTo end: String? = nil) async throws -> String {
  await receive(port, request, upTo: end).text
}

/// Sends bytes to a server on this machine, and returns its bytes up to `end`, or until the connection ends.
private func receive(_ port: Int, _ request: String, upTo end: String? = nil) async -> Chunk {
  await withCheckedContinuation { done in
    // A running loop would occupy one of the few threads that all tests share.
    Thread.detachNewThread { done.resume(returning: receiveHere(port, request, upTo: end)) }
  }
}

/// Connects to a server on this machine, sends it bytes, and receives its own.
private func exchange(
  _ port: Int, _ request: String, on loop: EventLoop
) -> AnyPublisher<(Connection, Chunk), SystemError> {
  Connection.connect(to: .internet("127.0.0.1", port: port), on: loop)
    .flatMap { connection in
      let sent = Just(Chunk(request)).write(to: connection).catch { _ in Empty<Never, Never>() }
        .map { (_: Never) -> Chunk in }.setFailureType(to: SystemError.self)
      return connection.bytes.merge(with: sent).map { (connection, $0) }
    }
    .eraseToAnyPublisher()
}

private func receiveHere(_ port: Int, _ request: String, upTo end: String?) -> Chunk {
  let loop = EventLoop()
  defer { loop.close() }
  var chunks: [Chunk] = []
  let said = exchange(port, request, on: loop)
    .timeout(.seconds(30), scheduler: loop)
    .sink { _ in
      loop.stop()
    } receiveValue: { _, chunk in
      chunks.append(chunk)
      if let end, Chunk(joining: chunks).text.contains(end) { loop.stop() }
    }
  loop.run()
  said.cancel()
  return Chunk(joining: chunks)
}

/// Requests a path on several connections, which read only the beginning of the response, and another path while they
/// are open.
///
/// - Returns: the response to the other request.
func get(_ port: Int, _ path: String, whileNobodyReads slow: String, times count: Int) async -> String {
  await withCheckedContinuation { done in
    Thread.detachNewThread {
      let loop = EventLoop()
      defer { loop.close() }
      var begun: [Connection] = []
      func ask(_ path: String) -> AnyPublisher<(Connection, Chunk), SystemError> {
        let request = "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n"
        return exchange(port, request, on: loop)
      }
      let reading = (0..<count).publisher.setFailureType(to: SystemError.self)
        .flatMap { _ in ask(slow).first() }
        .collect(count)
        .handleEvents(receiveOutput: { begun = $0.map(\.0) })
        .flatMap { _ in ask(path) }
        .map(\.1).collect()
        .timeout(.seconds(60), scheduler: loop)
        .sink { _ in
          loop.stop()
        } receiveValue: {
          done.resume(returning: Chunk(joining: $0).text)
        }
      loop.run()
      for connection in begun { connection.close() }
      reading.cancel()
    }
  }
}

/// Requests a path, as curl does, and returns the bytes of the response unchanged.
func answer(_ port: Int, _ path: String, _ fields: String = "") async throws -> (head: String, body: Chunk) {
  let all = await receive(port, "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\(fields)\r\n")
  let end = Array("\r\n\r\n".utf8)
  let start = try #require((0...max(0, all.count - 4)).first { all[$0..<min($0 + 4, all.count)].elementsEqual(end) })
  return (all[0..<start + 2].text, all.dropFirst(start + 4))
}

/// Requests a path, as curl does.
func get(_ port: Int, _ path: String, _ fields: String = "") async throws -> String {
  try await ask(port, "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\(fields)\r\n")
}

/// Waits until a server has this many clients that receive its events.
func waitForEventClients(_ count: Int, at port: Int) async throws {
  while try await !get(port, "/metrics").contains("feed_serve_event_clients \(count)\n") {
    try await Task.sleep(for: .milliseconds(20))
  }
}

/// The path of each image in a gallery, from the gallery's feed for other readers.
func imagePaths(_ port: Int, _ fields: String = "") async throws -> [String] {
  let document = try JSONSerialization.jsonObject(with: Data(try await answer(port, "/feed.json", fields).body))
  let items = try #require((document as? [String: Any])?["items"] as? [[String: Any]])
  return items.compactMap { ($0["image"] as? String).flatMap { URL(string: $0)?.path } }
}

/// The port in the URL that a server prints.
func port(of address: String) throws -> Int {
  try #require(URL(string: address.trimmingCharacters(in: .whitespacesAndNewlines))?.port)
}
