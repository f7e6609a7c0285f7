import Foundation
import PlainText

/// Standard error: messages, and on a terminal one line that shows the program is alive.
final class Console {
  let style: Style
  /// True when a status line is shown at all: on a terminal, and not beside a pipe, whose reader may write to the same
  /// one.
  let showsStatus: Bool
  private let columns: () -> Int?
  private let write: (String) -> Void
  private var status = ""

  /// - Parameters:
  ///   - columns: how wide the screen is now; `nil` where that is not known.
  ///   - write: where text goes; standard error by default.
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

  /// Shows what did not keep the feed from the user but should be known.
  func warn(_ text: String) { report("\(style.warning("Warning:")) \(text.printable)") }

  /// Replaces the status line; an empty text takes it away.
  func setStatus(_ text: String) {
    guard showsStatus, text != status else { return }
    if text.isEmpty { erase() }
    status = text
    draw()
  }

  /// Runs `body`, which writes on the same screen, with the status line out of its way.
  func aboveStatus(_ body: () -> Void) {
    erase()
    body()
    draw()
  }

  /// Takes the status line out of the way.
  func erase() {
    if !status.isEmpty { write("\r\u{1B}[K") }
  }

  /// Shows the status line again.
  func draw() {
    if !status.isEmpty { write("\r\u{1B}[K" + style.dim(fitting(status))) }
  }

  /// What would run over into a second line could not be taken away again.
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
