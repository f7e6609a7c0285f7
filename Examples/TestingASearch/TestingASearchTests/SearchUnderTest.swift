import FeedStream
import FeedStreamTesting
import Foundation
import TestingASearch

/// With `SEARCH=broken` in the environment, the tests use the broken variant, to show how they fail.
private let isBroken = ProcessInfo.processInfo.environment["SEARCH"] == "broken"

extension Publisher where Output: Equatable, Failure == MarbleFailure {
  /// The search under test: its server takes 500 ms for a query of one character, and 100 ms for a longer one.
  func search(on time: VirtualTimeScheduler) -> AnyPublisher<String, MarbleFailure> {
    func ask(_ text: Output) -> AnyPublisher<String, MarbleFailure> {
      Just("answer to \(text)")
        .delay(for: "\(text)".count == 1 ? 0.5 : 0.1, scheduler: time)
        .setFailureType(to: MarbleFailure.self)
        .eraseToAnyPublisher()
    }
    return isBroken ? brokenSearchResults(on: time, ask: ask) : searchResults(on: time, ask: ask)
  }
}
