import FeedFormats
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// A list of feeds that may change while a command runs.
struct FollowedList {
  let file: SubscriptionFile
  /// The list as it was first read.
  let known: OPML
  /// The feeds on the command line, which come first and don't change.
  let given: [SubscribedFeed]
  /// The path of the folder whose feeds are selected, outermost folder first; empty for any folder.
  let folder: [String]

  /// The selected feeds when the list has this content, without duplicates.
  func feeds(of list: OPML) -> [SubscribedFeed] {
    FeedSelection.unique(given + list.subscriptions.filter { isChosen($0.folders) })
  }

  /// All feeds, each time the list changes, which is noted. If the list can't be read, the error is reported, and the
  /// feeds don't change.
  func changes(on session: Session) -> AnyPublisher<[SubscribedFeed], Never> {
    let (console, path) = (session.console, file.path.printable)
    var previous = Set(feeds(of: known))
    return file.changes(since: known, lookingAfter: session.hangups, on: session.loop)
      .compactMap { result -> [SubscribedFeed]? in
        switch result {
        case .success(let list?) where !list.isCutOff: return feeds(of: list)
        case .success(_?): console.warn("\(path) is cut off; the previous feeds stay in use.")
        case .success(nil): console.warn("\(path) was removed; the previous feeds stay in use.")
        case .failure(let error): console.warn("\(error) The previous feeds stay in use.")
        }
        return nil
      }
      .removeDuplicates()
      .handleEvents(receiveOutput: {
        console.note("The list has changed and now has \(counted($0.count, "feed"))")
        // The other feeds' warnings have been written before.
        $0.filter { !previous.contains($0) }.warnOfUnusableCredentials(on: console)
        previous = Set($0)
      })
      .eraseToAnyPublisher()
  }

  /// True for a path of folders that contains ``folder``, ignoring case.
  private func isChosen(_ folders: [String]) -> Bool {
    guard !folder.isEmpty else { return true }
    let (folders, wanted) = (folders.map { $0.lowercased() }, folder.map { plainLine($0).lowercased() })
    guard folders.count >= wanted.count else { return false }
    return (0...folders.count - wanted.count).contains { Array(folders[$0..<$0 + wanted.count]) == wanted }
  }
}
