import FeedStream
import Synchronization

/// A scheduler that fails the test, once, if any code uses it. The failure is shown on the line where the scheduler was
/// made.
///
///     let model = SearchModel(scheduler: .unimplemented("the search"))
///
/// Use it to prove that a test doesn't depend on time. Scheduled work does not run. If code on another thread uses the
/// scheduler, Swift Testing fails the run instead of the test.
public final class UnimplementedScheduler: LoopScheduler, Sendable {
  private let name: String
  private let site: CallSite
  private let hasFailed = Atomic(false)

  /// - Parameter name: the scheduler's name in the message.
  public init(
    _ name: String = "", fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) {
    self.name = name
    CallSite.noteTest()
    site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
  }

  private func fail(_ call: String) {
    guard !hasFailed.exchange(true, ordering: .relaxed) else { return }
    site.fail(
      "UnimplementedScheduler\(name.isEmpty ? "" : " (“\(name)”)"): \(call), which this test should not need; use a "
        + "VirtualTimeScheduler or an immediate scheduler.")
  }

  public var now: StreamInstant {
    fail("the time was read")
    return StreamInstant(nanoseconds: 0)
  }

  public var minimumTolerance: StreamInstant.Stride { 0 }

  public func schedule(options: Never?, _ action: @escaping () -> Void) { fail("work was scheduled") }

  public func schedule(
    after date: StreamInstant, tolerance: StreamInstant.Stride, options: Never?, _ action: @escaping () -> Void
  ) { fail("work was scheduled for \(date.nanoseconds.asTime)") }

  public func schedule(
    after date: StreamInstant, interval: StreamInstant.Stride, tolerance: StreamInstant.Stride, options: Never?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    fail("work was scheduled to repeat every \(interval.nanoseconds.asTime)")
    return Subscriptions.empty
  }

  @discardableResult public func offload<T>(
    _ work: @escaping @Sendable () -> T, completion: @escaping (T) -> Void
  ) -> any Cancellable {
    fail("work was offloaded")
    return Subscriptions.empty
  }
}

extension Scheduler where Self == UnimplementedScheduler {
  /// Makes a scheduler that fails the test when it is used; see ``UnimplementedScheduler``.
  public static func unimplemented(
    _ name: String = "", fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) -> UnimplementedScheduler {
    UnimplementedScheduler(name, fileID: fileID, filePath: filePath, line: line, column: column)
  }
}
