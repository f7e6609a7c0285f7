import FeedStream

/// A chat: each line from a client goes to all clients. A client that reads too slowly misses lines instead of delaying
/// the others.
func chat(_ arguments: [String], on loop: EventLoop) throws -> AnyCancellable {
  let listener = try Listener(at: .internet("127.0.0.1", port: port(arguments[0])), on: loop)
  announce("listening at \(listener.address)")
  let said = PassthroughSubject<String, Never>()
  return listener.connections
    .flatMap { client -> AnyPublisher<Never, Never> in
      let name = client.peer
      said.send("\(name) came")
      let hearing = said.buffer(size: 100, prefetch: .keepFull, whenFull: .dropOldest)
        .map { Chunk($0 + "\n") }
        .write(to: client)
        .catch { _ in Empty<Never, Never>() }
      let speaking = client.bytes.lines(maxLength: 1_000)
        .handleEvents(
          receiveOutput: { said.send("\(name): \($0)") },
          receiveCompletion: { _ in said.send("\(name) went") }
        )
        .catch { _ in Empty<String, Never>() }
      // A client that has stopped sending also stops receiving.
      return hearing.prefix(untilOutputFrom: speaking.ignoreOutput().map { (_: Never) in }.append(()))
        .handleEvents(receiveCompletion: { _ in client.close() })
        .eraseToAnyPublisher()
    }
    .run()
}
