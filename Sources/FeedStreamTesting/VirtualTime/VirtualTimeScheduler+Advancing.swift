public import FeedStream

// The methods with which a test advances time.
extension VirtualTimeScheduler {
  /// Runs the work that is due now.
  public func advance(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    drive(to: now, CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Advances time by `interval` and runs the work that becomes due. A negative interval fails the test.
  public func advance(
    by interval: StreamInstant.Stride, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    guard interval.nanoseconds >= 0 else {
      return site.fail("advance(by: \(interval.nanoseconds.asTime)): time cannot go back; advance by zero or more")
    }
    drive(to: now.advanced(by: interval), site)
  }

  /// Advances time by a `Duration`.
  @_documentation(visibility: internal) @_disfavoredOverload public func advance(
    by interval: Duration, fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) {
    advance(by: StreamInstant.Stride(interval), fileID: fileID, filePath: filePath, line: line, column: column)
  }

  /// Advances time to `instant` and runs the work that becomes due. An instant in the past fails the test.
  public func advance(
    to instant: StreamInstant, fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    let now = self.now
    guard instant >= now else {
      return site.fail(
        "advance(to: \(instant.nanoseconds.asTime)): time cannot go back, and it is already \(now.nanoseconds.asTime); "
          + "advance to a later instant, or by an interval with advance(by:)")
    }
    drive(to: instant, site)
  }

  /// Runs all work, advancing time as far as needed. Work that waits forever stays pending.
  ///
  /// Work that keeps rescheduling itself fails the test after ``workLimit`` pieces; the message names its origins.
  public func run(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    drive(to: nil, CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Advances time by `interval` without running work, as if the thread were stalled: work that becomes due runs late,
  /// when time is next advanced. A negative interval fails the test.
  public func stall(
    for interval: StreamInstant.Stride, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) {
    guard interval.nanoseconds >= 0 else {
      return CallSite(fileID: fileID, filePath: filePath, line: line, column: column).fail(
        "stall(for: \(interval.nanoseconds.asTime)): time cannot go back; stall for zero or more")
    }
    agenda.stall(to: now.advanced(by: interval))
  }
}
