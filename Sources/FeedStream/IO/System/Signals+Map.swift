extension StreamDiagnostics {
  /// Turns the live map on, and writes it to standard error whenever the process receives `SIGUSR1`, for example from
  /// `kill -USR1 <pid>`.
  ///
  ///     let printing = StreamDiagnostics.printMapOnSignal(on: loop)
  ///
  /// With a handler, the map goes to your code instead, for example to a log of JSON lines: a ``StreamMap`` is
  /// `Encodable`. If the signal can't be watched, ``onUnhandledFailure(_:)`` receives the error.
  ///
  /// All loops are shown, as in ``snapshot(on:within:nodes:)``. Only streams whose subscriptions begin after this call
  /// are shown.
  ///
  /// - Parameters:
  ///   - signal: the signal's number; `SIGUSR1` by default.
  ///   - loop: the loop that waits for the signal. The wait doesn't keep the loop running. While the loop is blocked,
  ///     nothing is written.
  ///   - handler: receives each map on the loop; by default, the map is written to standard error.
  /// - Returns: a cancellable that restores the signal's previous action when cancelled or released. The map stays on.
  public static func printMapOnSignal(
    _ signal: Int32? = nil, on loop: EventLoop, _ handler: ((StreamMap) -> Void)? = nil
  ) -> AnyCancellable {
    // Turn the map on only after this subscription, so that the map doesn't show it.
    defer { startMap() }
    return Signals.received(signal ?? Signals.user1, on: loop)
      .map { _ in snapshot(on: loop) }
      .flatMap(maxPublishers: .max(1)) { $0 }
      .sink(
        receiveCompletion: { if case .failure(let error) = $0 { unhandled(error, "printMapOnSignal") } },
        receiveValue: handler ?? write)
  }

  /// Writes the map line by line, because `complain` escapes line feeds and other control characters.
  private static func write(_ map: StreamMap) {
    for line in map.description.split(separator: "\n", omittingEmptySubsequences: false) { complain(String(line)) }
  }
}
