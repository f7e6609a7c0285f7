/// A probable mistake that a stream survives, and that would otherwise go unnoticed.
///
/// Debug builds write each warning to standard error as one line, once per place. For a long turn, the stack follows.
/// An example:
///
///     App/main.swift:12: warning: PassthroughSubject: a value was sent while there was no subscriber …
///
/// ``StreamDiagnostics/writeWarnings(_:)`` and the `FEEDSTREAM_WARNINGS` environment variable (`on` or `off`) turn
/// warnings on and off; ``StreamDiagnostics/onWarning(_:)`` passes them to your code instead.
public struct StreamWarning: Hashable, Sendable, CustomStringConvertible {
  /// The kinds of mistakes.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A subject was sent a value while it had no subscriber.
    case sentToNobody
    /// A value was sent after the completion.
    case sentAfterCompletion
    /// A value was dropped because a subscriber had not requested it, or had not yet requested it when the stream
    /// failed.
    case noDemand
    /// A subscription, or an ``OnLoop``, was released in the statement that made it, as in
    /// `_ = publisher.sink { … }`.
    case releasedAtOnce
    /// Work or a value was sent to a loop that is closed.
    case closedLoop
    /// A loop returned from ``EventLoop/run(_:)`` while subscriptions were live on it.
    case liveSubscriptions
    /// A loop returned before a task had iterated the `values` that were made on it, or the loop waits only for such a
    /// task. This kind also covers a program that ended while a task was iterating values that no loop waits for.
    case unreadValues
    /// A stream, or work from another thread, waits for a loop that has never run, or that has been released.
    case neverRun
    /// A turn of a loop takes longer than the limit (``StreamDiagnostics/warnOfTurns(longerThan:)``).
    case longTurn
    /// A loop returned from ``EventLoop/run(_:)`` while a server on it had never been given anything that serves its
    /// requests.
    case neverServed

    /// The section of `docs/Troubleshooting.md` that explains the warning, with cause and solution.
    public var section: String { "docs/Troubleshooting.md#\(rawValue.lowercased())" }
  }

  public let kind: Kind
  /// The file and the line where the subscription or the subject was made, or else the name of the stream, the loop or
  /// the server.
  public let place: String
  /// A description of the event, and what to do instead.
  public let message: String
  /// The calls that hold up the loop, innermost first, for ``Kind/longTurn``; empty for other kinds, and when the stack
  /// can't be read.
  public let stack: [String]

  public var description: String { ([line] + stack.map { "  in \($0)" }).joined(separator: "\n") }

  var line: String {
    // A message begins with a name, which the place may already state.
    let name = message.prefix { $0 != ":" }
    let isNamed = place == name || place.hasPrefix(name + "<")
    return "\(place): warning: \(isNamed ? message.dropFirst(name.count + 2) : message[...])"
  }
}

extension StreamDiagnostics {
  /// Calls `handler` for every warning instead of writing it, on the thread that caused the warning (for a long turn,
  /// on another thread). This turns warnings on in release builds too. `nil` removes the handler.
  ///
  /// Each kind of warning is issued once per place, and again after a call to this method or to ``writeWarnings(_:)``.
  public static func onWarning(_ handler: (@Sendable (StreamWarning) -> Void)?) {
    Warnings.change { $0.handler = handler }
  }

  /// True while warnings are written or handled.
  package static var hasWarnings: Bool { Warnings.areOn }

  /// Turns the writing of warnings to standard error on or off.
  ///
  /// By default, debug builds write warnings and release builds do not, unless the `FEEDSTREAM_WARNINGS` environment
  /// variable is `on` or `off`. Only subscriptions made and loops run after this call are checked.
  /// While warnings are off, they cost an atomic load per subscription and nothing per value.
  public static func writeWarnings(_ writes: Bool = true) { Warnings.change { $0.writes = writes } }
}
