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
}
