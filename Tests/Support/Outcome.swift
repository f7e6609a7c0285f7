import FeedStream

/// The values that a stream delivered, and its completion.
package final class Outcome<Output, Failure: Error> {
  package var values: [Output] = []
  package var completion: Subscribers.Completion<Failure>?
  private var subscription: AnyCancellable?

  package init(_ publisher: some Publisher<Output, Failure>, onValue: @escaping (Output) -> Void = { _ in }) {
    subscription = publisher.sink { [unowned self] in
      completion = $0
    } receiveValue: { [unowned self] in
      values.append($0)
      onValue($0)
    }
  }

  package func cancel() { subscription?.cancel() }

  package var isFinished: Bool { if case .finished = completion { true } else { false } }
  package var error: Failure? { if case .failure(let error) = completion { error } else { nil } }
}

extension Outcome where Output == Chunk {
  package var text: String { Chunk(joining: values).text }
}
