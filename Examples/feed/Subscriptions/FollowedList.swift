import FeedFormats
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// A list of feeds that may change while a command runs.
struct FollowedList {
  let file: SubscriptionFile
  /// The list as it was read first.
  let known: OPML
  /// The feeds of the command line, which come first and stay.
  let given: [SubscribedFeed]
  /// The folder that the feeds of the list are in, the outermost first; empty for any.
  let folder: [String]

  /// The feeds that are meant when the list is this, each once.
  func feeds(of list: OPML) -> [SubscribedFeed] {
    FeedSelection.unique(given + list.subscriptions.filter { isChosen($0.folders) })
  }

  /// All feeds, each time that the list has changed. What cannot be read is reported, and the feeds stay as they are.
  func changes(on session: Session) -> AnyPublisher<[SubscribedFeed], Never> {
    let (console, path) = (session.console, file.path.printable)
    return file.changes(since: known, lookingAfter: session.hangups, on: session.loop)
      .compactMap { result -> [SubscribedFeed]? in
        switch result {
        case .success(let list?) where !list.isCutOff: return feeds(of: list)
        case .success(_?): console.warn("\(path) is cut off; the feeds aren't changed.")
        case .success(nil): console.warn("\(path) was removed; the feeds aren't changed.")
        case .failure(let error): console.warn("\(error) The feeds aren't changed.")
        }
        return nil
      }
      .removeDuplicates()
      .eraseToAnyPublisher()
  }

  /// True for a path of folders that has ``folder`` in it, without regard to case.
  private func isChosen(_ folders: [String]) -> Bool {
    guard !folder.isEmpty else { return true }
    let (folders, wanted) = (folders.map { $0.lowercased() }, folder.map { $0.lowercased() })
    guard folders.count >= wanted.count else { return false }
    return (0...folders.count - wanted.count).contains { Array(folders[$0..<$0 + wanted.count]) == wanted }
  }
}
