import FeedStream

/// The values and the completion of a stream.
struct Outcome<Output: Sendable, Failure: Error>: Sendable {
  var values: [Output] = []
  var error: Failure?
}

extension Publisher where Output: Sendable {
  /// Subscribes, and waits for the completion without blocking the caller's loop.
  func outcome(isolation: isolated (any Actor)? = #isolation) async -> Outcome<Output, Failure> {
    var outcome = Outcome<Output, Failure>()
    var subscription: AnyCancellable?
    await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
      subscription = sink { completion in
        if case .failure(let error) = completion { outcome.error = error }
        ended.resume()
      } receiveValue: {
        outcome.values.append($0)
      }
    }
    withExtendedLifetime(subscription) {}
    return outcome
  }
}
