import FeedStream

/// Runs a command whenever an entry of a folder changes (not of its subfolders). If the command is still running, it is
/// terminated first.
///
///     Handles rebuild Sources/App make test
func rebuild(_ arguments: [String], on loop: EventLoop) -> AnyCancellable {
  var command = Subprocess(arguments[1], Array(arguments.dropFirst(2)))
  // End the processes that the command has started, too.
  command.endsDescendants = true
  return Folder(arguments[0]).changes(on: loop)
    .eraseFailureType()
    .debounce(for: .milliseconds(100), scheduler: loop)
    .map { _ in }
    .prepend(())
    .flatMapLatest { [command] in
      command.output(on: loop)
        .catch { Just(Chunk("\($0)\n")) }
        .setFailureType(to: (any Error).self)
    }
    .prefix(untilOutputFrom: Signals.received(SIGINT, SIGTERM, on: loop))
    .write(to: .output, on: loop)
    .run()
}
