import FeedStream

extension Publisher where Output: Equatable {
  /// `searchResults` with two mistakes people make: `flatMap` shows answers to a text that is no longer there, and a sink
  /// that feeds a subject loses the subscriber's demand and its cancellation. The tests must find both.
  public func brokenSearchResults<Answers: Publisher, S: Scheduler>(
    pause: S.SchedulerTimeType.Stride = .milliseconds(300), on scheduler: S, ask: @escaping (Output) -> Answers
  ) -> AnyPublisher<Answers.Output, Failure> where Answers.Failure == Failure {
    let answers = debounce(for: pause, scheduler: scheduler).removeDuplicates().flatMap(ask)
    return Deferred {
      let shown = PassthroughSubject<Answers.Output, Failure>()
      var subscription: AnyCancellable?
      return shown.handleEvents(receiveSubscription: { _ in
        guard subscription == nil else { return }
        subscription = answers.sink(
          receiveCompletion: { shown.send(completion: $0) }, receiveValue: { shown.send($0) })
      })
    }.eraseToAnyPublisher()
  }
}
