import FeedStream

/// A server that sends back the bytes that it receives, to any number of clients. If a client doesn't read, the server
/// stops reading from it.
func echo(_ arguments: [String], on loop: EventLoop) throws -> AnyCancellable {
  let listener = try Listener(at: .internet("127.0.0.1", port: port(arguments[0])), on: loop)
  announce("listening at \(listener.address)")
  return listener.connections
    .flatMap { $0.bytes.write(to: $0, atEnd: .closes).catch { _ in Empty<Never, Never>() } }
    .run()
}
