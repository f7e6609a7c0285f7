import FeedStream
import Foundation

private struct Event: Codable {
  var level: String
  var message: String
}

/// Copies JSON values, one per line, from standard input to standard output, but only those with a given level.
func jsonFilter(_ arguments: [String], on loop: EventLoop) -> AnyCancellable {
  StandardInput.bytes(on: loop)
    .decodeJSONLines(Event.self)
    .filter { $0.level == arguments[0] }
    .tryMap { Chunk(try JSONEncoder().encode($0) + [10]) }
    .write(to: .output, on: loop)
    .run()
}
