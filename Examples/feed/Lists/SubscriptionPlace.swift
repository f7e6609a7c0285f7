import Foundation
import ImageFeed
import PlainText

/// The user's list of subscriptions. It is kept with the configuration, because the cache may be deleted at any time.
enum SubscriptionPlace {
  /// The path that the XDG base directory specification defines.
  static func path(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
    UserFolders.path("XDG_CONFIG_HOME", else: ".config", environment: environment) + "/subscriptions.opml"
  }

  /// The list. A list that an earlier version kept in the cache folder is moved, with a message on standard error.
  static func file() throws -> SubscriptionFile {
    let file = SubscriptionFile(path: path())
    let old = SubscriptionFile(besideCacheAt: CommonOptions.defaultCachePath())
    if try file.adopt(old) {
      StandardError.shared.write(
        "The subscriptions were moved from \(old.path.printable) to \(file.path.printable)\n")
    }
    return file
  }
}
