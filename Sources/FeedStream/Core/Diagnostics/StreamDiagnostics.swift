import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A value that reached an operator or a subject and went no further.
public struct DroppedValue {
  /// Why it was dropped.
  public enum Reason: Hashable, Sendable {
    /// The subscriber had not asked for it.
    case noDemand
    /// Nobody was subscribed.
    case noSubscriber
    /// A newer value took its place, or its own place was taken.
    case bufferFull
    /// The stream had ended.
    case terminated
    /// What an earlier value started was still going on.
    case busy
  }

  public let value: Any
  /// The operator or subject that dropped it, by the name its subscription has.
  public let source: String
  public let reason: Reason
}

/// A failure that reached the end of a stream where nobody was there to handle it.
public struct UnhandledFailure: CustomStringConvertible {
  public let error: any Error
  /// The subscriber or operator it reached.
  public let source: String
  /// The checkpoints it came through, the first first.
  public let checkpoints: [Place]

  public var description: String {
    "\(source): nobody handles the failure \(error)" + checkpoints.map { ", checkpoint \($0)" }.joined()
  }
}

/// What watches all streams of the process.
public enum StreamDiagnostics {
  /// Told of every value that is dropped, on the thread that drops it. None by default.
  ///
  /// Operators that drop by design (`filter`, `debounce`, `removeDuplicates` …) do not report what they are asked to leave
  /// out; those that drop because there is no room or no demand do.
  ///
  ///     StreamDiagnostics.onDrop { print("lost \($0.value): \($0.source), \($0.reason)") }
  public static func onDrop(_ handler: (@Sendable (DroppedValue) -> Void)?) {
    state.withLock { $0.onDrop = handler }
    isWatching.store(handler != nil, ordering: .releasing)
  }

  /// Told of every failure that nobody handles, on its thread: one that ends a `sink(on:)` without `receiveCompletion`, and
  /// one that `assertNoFailure` is about to trap for. By default, it is written to the standard error.
  public static func onUnhandledFailure(_ handler: (@Sendable (UnhandledFailure) -> Void)?) {
    state.withLock { $0.onUnhandledFailure = handler }
  }

  /// The checkpoints that the failure being delivered has passed.
  @TaskLocal static var passed: [Place] = []

  /// Notes that the failure that `deliver` delivers has passed `place`.
  @usableFromInline
  static func passing(_ place: Place, _ deliver: () -> Void) { $passed.withValue(passed + [place], operation: deliver) }

  @inline(never) @usableFromInline static func unhandled(_ error: any Error, _ source: StaticString) {
    let failure = UnhandledFailure(error: error, source: "\(source)", checkpoints: passed)
    guard let handler = state.withLock({ $0.onUnhandledFailure }) else {
      return complain("\(failure)")
    }
    handler(failure)
  }

  /// Whether anybody watches: for work that is only done to report what is dropped.
  @usableFromInline static var isWatched: Bool { isWatching.load(ordering: .acquiring) }

  // Looked at for every dropped value: an atomic, so that nobody pays for a lock who does not watch.
  private static let isWatching = Atomic(false)
  private static let state = Mutex(Handlers())

  private struct Handlers {
    var onDrop: (@Sendable (DroppedValue) -> Void)?
    var onUnhandledFailure: (@Sendable (UnhandledFailure) -> Void)?
  }

  @inline(never) @usableFromInline
  static func dropped(_ value: @autoclosure () -> Any, _ source: StaticString, _ reason: DroppedValue.Reason) {
    guard isWatched else { return }
    let handler = state.withLock { $0.onDrop }
    handler?(DroppedValue(value: value(), source: "\(source)", reason: reason))
  }
}

/// Writes a line to the standard error, in one call, so that the lines of several threads do not mix.
private func complain(_ line: String) {
  var line = line + "\n"
  line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
