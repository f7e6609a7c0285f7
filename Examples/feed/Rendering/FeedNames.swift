import Foundation
import Synchronization

/// The names of the feeds in a list, which may change while the list is shown.
final class FeedNames: Sendable {
  private let names: Mutex<[URL: String]>

  init(_ names: [URL: String]) { self.names = Mutex(names) }

  subscript(_ address: URL) -> String? { names.withLock { $0[address] } }

  func replace(with names: [URL: String]) { self.names.withLock { $0 = names } }
}
