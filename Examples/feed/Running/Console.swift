import FeedPolling
import Foundation
import ImageFeed
import Logging
import PlainText

/// Standard error: messages, and on a terminal, a status line that shows that the program is running.
final class Console {
  let style: Style
  /// True if a status line is shown: on a terminal, unless standard output is a pipe, because its reader may write to
  /// the same terminal.
  let showsStatus: Bool
  /// True when warnings and notes are left out.
  private let isQuiet: Bool
  private let columns: () -> Int?
  private let write: (String) -> Void
  /// Receives messages instead of standard error, with their level and without highlighting.
  private let log: ((Logger.Level, String) -> Void)?
  private let now: () -> Date
  /// The failures of stores that were reported, and when.
  private var storeFailures: [FeedStoreError: Date] = [:]
  /// The hosts whose pauses were reported, and the end of the last reported one.
  private var hostPauses: [String: Date] = [:]
  private var status = ""
  /// The number of columns that the status line takes up on the screen.
  private var drawn = 0
  private var pauses = 0
  /// Receives the messages, except those of `--verbose`, without highlighting, while another part of the program uses
  /// the whole screen; if they are also logged, only warnings and errors.
  var onReport: ((String) -> Void)?
  /// The style of a message's label.
  private var labelStyle: Style { onReport == nil ? style : .plain }

  /// - Parameters:
  ///   - isQuiet: true to leave out warnings and notes.
  ///   - columns: the current width of the screen; `nil` if unknown.
  ///   - write: receives the text; standard error by default.
  ///   - log: receives messages instead of `write`, with their level.
  init(
    style: Style = .suiting(STDERR_FILENO),
    showsStatus: Bool = Style.isScreen(STDERR_FILENO) && !Output.isPipe(STDOUT_FILENO),
    isQuiet: Bool = false,
    columns: @escaping () -> Int? = { Style.columns(of: STDERR_FILENO) },
    write: @escaping (String) -> Void = StandardError.shared.write,
    log: ((Logger.Level, String) -> Void)? = nil,
    now: @escaping () -> Date = Date.init
  ) {
    self.log = log
    self.now = now
    self.style = style
    self.showsStatus = showsStatus
    self.isQuiet = isQuiet
    self.columns = columns
    self.write = write
  }

  /// Shows a message. The text must already be safe to show.
  func report(_ text: String, _ level: Logger.Level = .info) {
    if let log {
      log(level, text)
      if level >= .warning { onReport?(text) }
      return
    }
    if let onReport, level > .debug { return onReport(text) }
    aboveStatus { write(text.hasSuffix("\n") ? text : text + "\n") }
  }

  /// Reports a failure. The text must already be safe to show.
  func fail(_ text: String) { report(log == nil ? "\(labelStyle.bad("feed:")) \(text.afterColon)" : text, .error) }

  /// Reports a failure, given as the text of a ``FeedScreen``, in which some lines are hints.
  func showFailure(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let start = lines.firstIndex { $0.hasPrefix("hint: ") } ?? lines.endIndex
    guard log != nil else { return report(isQuiet ? lines[..<start].joined(separator: "\n") : text) }
    // A log line has its own time.
    report(lines[..<start].joined(separator: "\n").replacing(#/^(\[[0-9:]+\] )?feed: /#, with: ""), .error)
    for hint in lines[start...] where !hint.isEmpty { note(String(hint)) }
  }

  /// Suggests a remedy. The text must already be safe to show.
  func hint(_ text: String) { note("hint: \(text)") }

  /// Reports a problem that did not prevent the feed from being shown.
  func warn(_ text: String) {
    note(log == nil ? "\(labelStyle.warning("Warning:")) \(text.printable)" : text.printable, .warning)
  }

  /// Reports a store's failure, at most once per hour: on a full disk, each feed and each image fails in the same way.
  func warn(_ error: FeedStoreError) {
    let now = now()
    if let last = storeFailures[error], (0..<3600).contains(now.timeIntervalSince(last)) { return }
    if storeFailures.count >= 100 { storeFailures = [:] }
    storeFailures[error] = now
    warn("\(error)")
  }

  /// Reports a host's pause, unless a reported one ends less than an hour earlier: a host may request a new pause after
  /// each one. If the new end is much earlier, the clock has been changed.
  func warn(_ pause: HostPause, of host: String) {
    if let end = hostPauses[host], abs(pause.until.timeIntervalSince(end)) < 3600 { return }
    if hostPauses.count >= 100 { hostPauses = [:] }
    hostPauses[host] = pause.until
    warn(pause.text(of: host))
  }

  /// Reports something that `--quiet` leaves out. The text must already be safe to show.
  func note(_ text: String, _ level: Logger.Level = .notice) { if !isQuiet { report(text, level) } }

  /// Removes the status line while other output is written to the screen.
  func pause() {
    erase()
    pauses += 1
  }

  /// Ends ``pause()``.
  func resume() {
    pauses -= 1
    draw()
  }

  /// Redraws the status line after the screen's width has changed.
  func resized() { aboveStatus {} }

  /// Replaces the status line; an empty text removes it.
  func setStatus(_ text: String) {
    guard showsStatus, text != status else { return }
    if text.isEmpty { erase() }
    status = text
    draw()
  }

  /// Runs `body`, which writes to the same screen, while the status line is removed.
  func aboveStatus(_ body: () -> Void) {
    erase()
    body()
    draw()
  }

  /// Removes the status line.
  func erase() {
    guard !status.isEmpty, pauses == 0 else { return }
    write(start + "\u{1B}[K")
    drawn = 0
  }

  /// Shows the status line again.
  func draw() {
    guard !status.isEmpty, pauses == 0 else { return }
    let text = fitting(status)
    write(start + "\u{1B}[K" + style.dim(text))
    drawn = text.columns
  }

  /// The sequence that moves to the beginning of the status line. A terminal that has become narrower shows the status
  /// line on several lines, which are erased from the last one up.
  private var start: String {
    guard let columns = columns(), columns > 0, drawn > columns else { return "\r" }
    return "\r" + String(repeating: "\u{1B}[K\u{1B}[A", count: (drawn - 1) / columns)
  }

  /// The text, shortened to one line, at the end of a word if possible, because a second line could not be removed
  /// again.
  private func fitting(_ text: String) -> String {
    guard let columns = columns() else { return text }
    // Leave room on the line for the `^C` that a terminal shows.
    var (taken, room) = ("", max(columns - (columns > 20 ? 3 : 1), 0))
    guard text.columns > room else { return text }
    room -= 1
    for character in text {
      room -= character.columns
      if room < 0 { break }
      taken.append(character)
    }
    let words = taken.lastIndex(of: " ").map { taken[..<$0] } ?? taken[...]
    return words + "…"
  }
}

extension String {
  /// The text as it follows a colon: its first letter is lowercase, unless the first word is a name such as OPML.
  fileprivate var afterColon: String {
    let word = prefix { !$0.isWhitespace }
    guard word.first?.isUppercase ?? false, word.dropFirst().allSatisfy(\.isLowercase) else { return self }
    return prefix(1).lowercased() + dropFirst()
  }
}
