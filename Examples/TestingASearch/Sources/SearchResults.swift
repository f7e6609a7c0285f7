import FeedStream

extension Publisher where Output: Equatable {
  /// Delivers the answers to the typed text: requested once typing pauses, not again for the same text, and never shown
  /// once a newer text has been requested.
  ///
  /// - Parameters:
  ///   - pause: how long typing must pause.
  ///   - scheduler: measures the pause: an `EventLoop` in an app, a `VirtualTimeScheduler` in a test.
  ///   - ask: requests the answers to a text.
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
