import CLibrary
import Synchronization

/// A value that an operator or a subject received and did not pass on.
public struct DroppedValue {
  /// The reason for dropping a value.
  public enum Reason: Hashable, Sendable {
    /// The subscriber had not requested it.
    case noDemand
    /// There was no subscriber.
    case noSubscriber
    /// The buffer was full: this value, or an older one, had to make room.
    case bufferFull
    /// The stream had ended: it had completed or failed, or its loop was closed.
    case terminated
    /// The work that an earlier value started was still running.
    case busy
  }

  public let value: Any
  /// The operator or subject that dropped the value, identified by the name of its subscription.
  public let source: String
  public let reason: Reason
}

/// A failure that reached the end of a stream without being handled.
public struct UnhandledFailure: CustomStringConvertible {
  public let error: any Error
  /// The subscriber or operator that the failure reached.
  public let source: String
  /// The checkpoints that the failure passed, in order.
  public let checkpoints: [Place]

  public var description: String {
    "\(source): unhandled failure \(error)" + checkpoints.map { ", checkpoint \($0)" }.joined()
  }
}

/// An error that was handled automatically: for example, a server responded with status 500, a listener closed a
/// connection, or a decoder skipped a line.
public struct CaughtError: CustomStringConvertible {
  public let error: any Error
  /// The place where the error was caught, such as `HTTPServer: GET /feeds from 127.0.0.1:4711`.
  public let source: String

  public var description: String { "\(source): \(error)" }
}

/// Reports dropped values, unhandled failures and caught errors of all streams in the process.
public enum StreamDiagnostics {
  /// Calls `handler` for every value that is dropped, on the thread that drops it. There is no handler by default.
  ///
  /// With a handler, dropped values cause no ``StreamWarning``.
  ///
  /// Operators that drop by design (`filter`, `debounce`, `removeDuplicates` …) do not report the values that they
  /// leave out. Operators that drop values because there is no room or no demand do report them.
  ///
  ///     StreamDiagnostics.onDrop { print("lost \($0.value): \($0.source), \($0.reason)") }
  public static func onDrop(_ handler: (@Sendable (DroppedValue) -> Void)?) {
    state.withLock { $0.onDrop = handler }
    isWatching.store(handler != nil, ordering: .releasing)
  }

  /// Calls `handler` for every unhandled failure, on the thread where the failure arrives. A failure is unhandled if it
  /// reaches a `sink(on:)` without `receiveCompletion`, or if `assertNoFailure` is about to trap because of it. By
  /// default, the failure is written to standard error.
  public static func onUnhandledFailure(_ handler: (@Sendable (UnhandledFailure) -> Void)?) {
    state.withLock { $0.onUnhandledFailure = handler }
  }

  /// Calls `handler` for every error that was handled automatically, on the thread where the error occurred. Such
  /// errors come from a handler or body of an `HTTPServer` without `onError`, from the publisher of an
  /// `upgradeToWebSocket`, from a handshake in a listener's `secured(by:)` without `report`, and from lines that
  /// `decodeJSONLines(onInvalid: .skip())` skips.
  ///
  /// By default, a debug build writes the error to standard error, and a release build does nothing. To turn this
  /// output off:
  ///
  ///     StreamDiagnostics.onCaughtError { _ in }
  public static func onCaughtError(_ handler: (@Sendable (CaughtError) -> Void)?) {
    state.withLock { $0.onCaughtError = handler }
  }

  /// Reports an error that `source` has handled.
  package static func caught(_ error: any Error, _ source: @autoclosure () -> String) {
    let handler = state.withLock { $0.onCaughtError }
    if let handler { return handler(CaughtError(error: error, source: source())) }
    #if DEBUG
      complain("\(CaughtError(error: error, source: source()))")
    #endif
  }

  /// The checkpoints that the current failure has passed.
  @TaskLocal static var passed: [Place] = []

  /// Records that the failure delivered by `deliver` has passed `place`.
  @usableFromInline
  static func passing(_ place: Place, _ deliver: () -> Void) { $passed.withValue(passed + [place], operation: deliver) }

  @inline(never) @usableFromInline static func unhandled(_ error: any Error, _ source: StaticString) {
    let failure = UnhandledFailure(error: error, source: "\(source)", checkpoints: passed)
    guard let handler = state.withLock({ $0.onUnhandledFailure }) else {
      return complain("\(failure)")
    }
    handler(failure)
  }

  /// True if a handler is set; check it before work that is needed only for reports.
  @usableFromInline static var isWatched: Bool { isWatching.load(ordering: .acquiring) }

  // Atomic, because it is read for every dropped value: no lock is taken while there is no handler.
  private static let isWatching = Atomic(false)
  private static let state = Mutex(Handlers())

  private struct Handlers {
    var onDrop: (@Sendable (DroppedValue) -> Void)?
    var onUnhandledFailure: (@Sendable (UnhandledFailure) -> Void)?
    var onCaughtError: (@Sendable (CaughtError) -> Void)?
  }

  /// - Parameters:
  ///   - isPolicy: true if dropping values is the operator's purpose.
  ///   - atFailure: true if the value is dropped because the stream fails while the value waits for a request.
  @inline(never) @usableFromInline
  static func dropped(
    _ value: @autoclosure () -> Any, _ source: StaticString, _ reason: DroppedValue.Reason, isPolicy: Bool = false,
    atFailure: Bool = false
  ) {
    guard isWatched else {
      if reason == .noDemand, !isPolicy { Warnings.unrequested("\(source)", at: "\(source)", atFailure: atFailure) }
      return
    }
    let handler = state.withLock { $0.onDrop }
    handler?(DroppedValue(value: value(), source: "\(source)", reason: reason))
  }
}

/// Writes one or more lines to standard error in one call, so that the output of several threads isn't interleaved.
func complain(_ line: String, _ more: [String] = []) {
  var text = ""
  for line in [line] + more {
    // An error may quote text from the network. Escape control characters, which a terminal would interpret.
    for scalar in line.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\n"
  }
  text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
