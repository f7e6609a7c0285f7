import FeedStream
import Foundation
import ImageFeed
import TerminalImages

extension Browser {
  /// The browser's access to the outside world.
  struct World {
    /// Writes to the terminal, and calls back when that is done. Only one write may run at a time.
    var write: ([UInt8], @escaping () -> Void) -> Void
    /// Suspends the process until it is continued.
    var stop: () -> Void
    /// False if the shell has put the process into the background.
    var isForeground: () -> Bool = { true }
    /// Called before the screen is taken over again.
    var woken: () -> Void = {}
    var now: () -> Date
    var environment: [String: String]
    /// Adds the system's information about the terminal to the terminal's own reply.
    var sized: (TerminalAbilities) -> TerminalAbilities = { $0 }
    /// Called with each page that is shown.
    var shown: (FeedImages, URL) -> Void = { _, _ in }
    /// The folder where images are saved.
    var folder = FileManager.default.currentDirectoryPath
    /// Called once, at the end.
    var ended: () -> Void
  }

  /// Opens an http or https URL in the desktop's default program, which keeps running when this program ends. Delivers
  /// a message about the result. If `xdg-open` is still running after two seconds, the browser has started.
  static func opening(_ url: URL, on scheduler: any LoopScheduler) -> AnyPublisher<String, Never> {
    let script = "command -v xdg-open > /dev/null || exit 127; xdg-open \"$1\" < /dev/null > /dev/null 2>&1 & wait $!"
    var shell = Subprocess("/bin/sh", ["-c", script, "sh", url.absoluteString])
    (shell.standardOutput, shell.standardErrors) = (.null, .null)
    do throws(SystemError) {
      // The subscriber retains the shell. When it is cancelled, only the shell ends.
      return try shell.start(on: scheduler).exit
        .map(message)
        .merge(with: Just(BrowseState.opened).delay(for: .seconds(2), scheduler: AnyLoopScheduler(scheduler)))
        .first()
        .eraseToAnyPublisher()
    } catch {
      return Just("\(error)").eraseToAnyPublisher()
    }
  }

  private static func message(_ status: ExitStatus) -> String {
    switch status {
    case .exited(0): BrowseState.opened
    case .exited(3): "xdg-open found no browser (status 3)."
    case .exited(127): "xdg-open isn't installed."
    default: "xdg-open \(status)."
    }
  }
}
