import FeedStream

/// A proxy that passes at most a given number of bytes per second in each direction. The sender has to wait; nothing is
/// dropped while both sides are connected. If one breaks off, both connections are closed, and bytes that wait are lost.
///
///     Handles proxy 8080 example.org:80 100000
func proxy(_ arguments: [String], on loop: EventLoop) throws -> AnyCancellable {
  let (target, bytesPerSecond) = (arguments[1], try number(arguments[2], in: 1...1_000_000_000))
  let listener = try Listener(at: .internet("127.0.0.1", port: port(arguments[0])), on: loop)
  announce("listening at \(listener.address)")

  // `chunked(into:)` would hold a short request until more bytes arrive, while the client waits for the response.
  func pieces(of chunk: Chunk) -> [Chunk] {
    let size = max(bytesPerSecond / 20, 1)
    return stride(from: 0, to: chunk.count, by: size).map { chunk.dropFirst($0).prefix(size) }
  }

  func pass(_ from: Connection, to: Connection) -> Publishers.Write<some Publisher<Chunk, SystemError>> {
    from.bytes
      .flatMap(maxPublishers: .max(1)) { pieces(of: $0).publisher.setFailureType(to: SystemError.self) }
      // Pass one piece, and wait for the time that it takes before the next.
      .flatMap(maxPublishers: .max(1)) { piece in
        let time = Double(piece.count) / Double(bytesPerSecond)
        return Just(piece).append(Empty().delay(for: .seconds(time), scheduler: loop))
          .setFailureType(to: SystemError.self)
      }
      .write(to: to, atEnd: .endsWriting)
  }
  return listener.connections
    .flatMap { client in
      Connection.connect(to: target, on: loop)
        .eraseFailureType()
        // If one direction fails, `merge` cancels the other, which releases both connections and so closes them.
        .flatMap { pass(client, to: $0).merge(with: pass($0, to: client)).eraseFailureType() }
        .catch { _ in Empty<Never, Never>() }
    }
    .run()
}
