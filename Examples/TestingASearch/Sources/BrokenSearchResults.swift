import FeedStream

extension Publisher where Output: Equatable {
  /// `searchResults` with two common mistakes: `flatMap` shows results for old text, and a sink that feeds a subject
  /// ignores the subject's demand and cancellation. The tests find both.
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
          // The sink's closure keeps the subscription until the completion, so nothing can cancel the search.
          subscription = nil
        } receiveValue: { answer in
          shown.send(answer)
        }
        _ = subscription
      })
    }.eraseToAnyPublisher()
  }
}
