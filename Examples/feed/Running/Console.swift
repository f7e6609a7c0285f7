import Foundation
import PlainText

/// Standard error: messages, and on a terminal one line that shows that the program is running.
final class Console {
  let style: Style
  /// True when a status line is shown: on a terminal, and not together with a pipe, whose reader may write to the same
  /// terminal.
  let showsStatus: Bool
  private let columns: () -> Int?
  private let write: (String) -> Void
  private var status = ""

  /// - Parameters:
  ///   - columns: the present width of the screen; `nil` when it is unknown.
  ///   - write: receives the text; standard error by default.
  init(
    style: Style = .suiting(STDERR_FILENO),
    showsStatus: Bool = Style.isScreen(STDERR_FILENO) && !Output.isPipe(STDOUT_FILENO),
    columns: @escaping () -> Int? = Console.columnsOfStandardError,
    write: @escaping (String) -> Void = StandardError.shared.write
  ) {
    self.style = style
    self.showsStatus = showsStatus
    self.columns = columns
    self.write = write
  }

  /// Shows a message, whose text is already safe to show.
  func report(_ text: String) {
    aboveStatus { write(text.hasSuffix("\n") ? text : text + "\n") }
  }

  /// Reports a problem that did not prevent the feed from being shown.
  func warn(_ text: String) { report("\(style.warning("Warning:")) \(text.printable)") }

  /// Replaces the status line; an empty text removes it.
  func setStatus(_ text: String) {
    guard showsStatus, text != status else { return }
    if text.isEmpty { erase() }
    status = text
    draw()
  }

  /// Runs `body`, which writes on the same screen, while the status line is removed.
  func aboveStatus(_ body: () -> Void) {
    erase()
    body()
    draw()
  }

  /// Removes the status line.
  func erase() {
    if !status.isEmpty { write("\r\u{1B}[K") }
  }

  /// Shows the status line again.
  func draw() {
    if !status.isEmpty { write("\r\u{1B}[K" + style.dim(fitting(status))) }
  }

  /// Cuts the text to one line: a second line could not be removed again.
  private func fitting(_ text: String) -> String {
    guard let columns = columns(), text.count >= columns else { return text }
    return String(text.prefix(max(columns - 1, 0)))
  }

  static func columnsOfStandardError() -> Int? {
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }
}
