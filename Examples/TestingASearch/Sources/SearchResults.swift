import FeedStream

extension Publisher where Output: Equatable {
  /// Delivers the results for the typed text. They are requested once typing pauses, aren't requested again for the
  /// same text, and are never delivered after a newer text was requested.
  ///
  /// - Parameters:
  ///   - pause: the time without typing after which the text is requested.
  ///   - scheduler: measures the pause: an `EventLoop` in an app, a `VirtualTimeScheduler` in a test.
  ///   - ask: requests the results for some text.
  public func searchResults<Answers: Publisher, S: Scheduler>(
    pause: S.SchedulerTimeType.Stride = .milliseconds(300), on scheduler: S, ask: @escaping (Output) -> Answers
  ) -> AnyPublisher<Answers.Output, Failure> where Answers.Failure == Failure {
    debounce(for: pause, scheduler: scheduler)
      .removeDuplicates()
      .map(ask)
      .switchToLatest()
      .eraseToAnyPublisher()
  }
}
