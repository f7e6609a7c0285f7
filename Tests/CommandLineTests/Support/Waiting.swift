import Testing

/// Waits while a condition holds; fails after five minutes. Checks only fifty times per second, because the awaited
/// program needs the processor.
func wait(
  while condition: @autoclosure () async throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  let deadline = ContinuousClock.now + .seconds(300)
  while try await condition() {
    guard ContinuousClock.now < deadline else {
      Issue.record("waited five minutes in vain", sourceLocation: sourceLocation)
      return
    }
    try await Task.sleep(for: .milliseconds(20))
  }
}
