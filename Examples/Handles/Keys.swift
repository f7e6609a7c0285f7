import FeedStream

/// Shows each key that is pressed, until `q`, and hides the cursor; the terminal is restored on exit.
func keys(_ arguments: [String], on loop: EventLoop) throws -> AnyCancellable {
  let terminal = try Terminal(on: loop)
  // Show the cursor again even when a signal ends the program.
  terminal.farewell = "\u{1B}[?25h"
  return terminal.keys
    .prefix { $0 != .character("q") }
    .map { Chunk("\($0)\r\n") }
    .prepend(Chunk("\u{1B}[?25lready\r\n"))
    .write(to: .output, on: loop)
    .run()
}
