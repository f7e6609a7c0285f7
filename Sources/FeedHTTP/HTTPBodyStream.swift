import FeedStream
import Foundation

/// The publisher of a body, used only on the thread that made it, although its request is a `Sendable` value.
// @unchecked: its properties are used only on the thread that made it, which `open` and `canBeOpened` check.
final class HTTPBodyStream: @unchecked Sendable {
  let length: Int?
  private let isRepeatable: Bool
  private let make: () -> AnyPublisher<Chunk, any Error>
  private let home = pthread_self()
  private var isTaken = false

  init(length: Int?, isRepeatable: Bool, _ make: @escaping () -> AnyPublisher<Chunk, any Error>) {
    precondition(length ?? 0 >= 0, "HTTPBody(length: \(length ?? 0)): use 0 or more")
    self.length = length
    self.isRepeatable = isRepeatable
    self.make = make
  }

  var canBeOpened: Bool {
    check()
    return isRepeatable || !isTaken
  }

  func open() -> AnyPublisher<Chunk, any Error> {
    guard canBeOpened else { return Fail(error: HTTPBody.Problem.taken).eraseToAnyPublisher() }
    isTaken = true
    return make()
  }

  private func check() {
    precondition(
      pthread_equal(home, pthread_self()) != 0,
      "HTTPBody: a stream must be sent on the thread that made it; make the body on the client's loop")
  }
}

extension HTTPBodyStream: Hashable {
  static func == (one: HTTPBodyStream, other: HTTPBodyStream) -> Bool { one === other }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
