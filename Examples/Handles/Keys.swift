import FeedStream

/// Shows the keys that are pressed, until `q`; the terminal is as it was afterwards.
func keys(_ arguments: [String], on loop: EventLoop) throws -> AnyCancellable {
  let terminal = try Terminal(on: loop)
  return terminal.keys
    .prefix { $0 != .character("q") }
    .map { Chunk("\($0)\r\n") }
    .prepend(Chunk("ready\r\n"))
    .write(to: .output, on: loop)
    .run()
}
