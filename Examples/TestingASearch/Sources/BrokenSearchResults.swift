import FeedStream

extension Publisher where Output: Equatable {
  /// `searchResults` with two mistakes that people make: `flatMap` shows answers to a text that is no longer there; and
  /// a sink that feeds a subject knows nothing of its subscriber's demand and cancellation. The tests find both.
  public func brokenSearchResults<Answers: Publisher, S: Scheduler>(
    pause: S.SchedulerTimeType.Stride = .milliseconds(300), on scheduler: S, ask: @escaping (Output) -> Answers
  ) -> AnyPublisher<Answers.Output, Failure> where Answers.Failure == Failure {
    let answers = debounce(for: pause, scheduler: scheduler).removeDuplicates().flatMap(ask)
    return Deferred {
      let shown = PassthroughSubject<Answers.Output, Failure>()
      return shown.handleEvents(receiveSubscription: { _ in
        var subscription: AnyCancellable?
        subscription = answers.sink { completion in
          shown.send(completion: completion)
          // "Kept until it is over": nobody else releases it, and so nobody stops the search.
          subscription = nil
        } receiveValue: { answer in
          shown.send(answer)
        }
        _ = subscription
      })
    }.eraseToAnyPublisher()
  }
}
