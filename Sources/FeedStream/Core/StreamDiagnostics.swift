import Synchronization

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

/// What watches all streams of the process.
public enum StreamDiagnostics {
  /// Told of every value that is dropped, on the thread that drops it. None by default.
  ///
  /// Operators that drop by design (`filter`, `debounce`, `removeDuplicates` …) do not report what they are asked to leave
  /// out; those that drop because there is no room or no demand do.
  ///
  ///     StreamDiagnostics.onDrop { print("lost \($0.value): \($0.source), \($0.reason)") }
  public static func onDrop(_ handler: (@Sendable (DroppedValue) -> Void)?) {
    state.withLock { $0 = handler }
    isWatching.store(handler != nil, ordering: .releasing)
  }

  /// Whether anybody watches: for work that is only done to report what is dropped.
  @usableFromInline
  static var isWatched: Bool { isWatching.load(ordering: .acquiring) }

  // Looked at for every dropped value: an atomic, so that nobody pays for a lock who does not watch.
  private static let isWatching = Atomic(false)
  private static let state = Mutex<(@Sendable (DroppedValue) -> Void)?>(nil)

  @inline(never)
  @usableFromInline
  static func dropped(_ value: @autoclosure () -> Any, _ source: StaticString, _ reason: DroppedValue.Reason) {
    guard isWatched else { return }
    let handler = state.withLock { $0 }
    handler?(DroppedValue(value: value(), source: "\(source)", reason: reason))
  }
}
