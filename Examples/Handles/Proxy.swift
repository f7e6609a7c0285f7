import FeedStream

/// A proxy that passes at most a given number of bytes per second in each direction. Nothing is dropped; the sender has
/// to wait.
///
///     Handles proxy 8080 example.org:80 100000
func proxy(_ arguments: [String], on loop: EventLoop) throws -> AnyCancellable {
  let listener = try Listener(at: .internet("127.0.0.1", port: Int(arguments[0])!), on: loop)
  announce("listening at \(listener.address)")
  let (target, bytesPerSecond) = (arguments[1], Int(arguments[2])!)

  func pass(_ from: Connection, to: Connection) -> AnyPublisher<Never, Never> {
    from.bytes
      .chunked(into: max(bytesPerSecond / 20, 1))
      // Pass one chunk, and then wait a twentieth of a second before the next.
      .flatMap(maxPublishers: .max(1)) { chunk in
        Just(chunk).append(Empty().delay(for: .milliseconds(50), scheduler: loop)).setFailureType(to: SystemError.self)
      }
      .write(to: to, atEnd: .endsWriting)
      .catch { _ in Empty<Never, Never>() }
      .eraseToAnyPublisher()
  }
  return listener.connections
    .flatMap { client in
      Connection.connect(to: target, on: loop)
        .flatMap { pass(client, to: $0).merge(with: pass($0, to: client)).setFailureType(to: SystemError.self) }
        .catch { _ in Empty<Never, Never>() }
    }
    .run()
}
