import FeedStream

extension Publisher where Output == String {
  /// Delivers the queries to search for: each text that stays for 200 ms and differs from the one before.
  public func searches<S: Scheduler>(on scheduler: S) -> some Publisher<String, Failure> {
    debounce(for: .milliseconds(200), scheduler: scheduler)
      .removeDuplicates()
      .map { "searching for \($0)" }
  }
}
