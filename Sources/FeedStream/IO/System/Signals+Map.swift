extension StreamDiagnostics {
  /// Turns the live map on, and writes it to standard error whenever the process receives `SIGUSR1`: `kill -USR1
  /// <pid>`.
  ///
  ///     let printing = StreamDiagnostics.printMapOnSignal(on: loop)
  ///
  /// All loops are shown, as in ``snapshot(on:within:nodes:)``. Only streams whose subscriptions begin after this call
  /// are shown.
  ///
  /// - Parameters:
  ///   - signal: the signal's number; `SIGUSR1` by default.
  ///   - loop: the loop that waits for the signal; this doesn't keep it running. While the loop is blocked, nothing is
  ///     written.
  /// - Returns: restores the signal's former handling when cancelled or released; the map stays on.
  public static func printMapOnSignal(_ signal: Int32? = nil, on loop: EventLoop) -> AnyCancellable {
    startMap()
    return Signals.received(signal ?? Signals.user1, on: loop)
      .map { _ in snapshot(on: loop) }
      .switchToLatest()
      .sink(
        receiveCompletion: { if case .failure(let error) = $0 { complain("printMapOnSignal: \(error)") } },
        receiveValue: { map in
          // Line by line, as a failure's text may have other control characters.
          for line in map.description.split(separator: "\n", omittingEmptySubsequences: false) {
            complain(String(line))
          }
        })
  }
}
