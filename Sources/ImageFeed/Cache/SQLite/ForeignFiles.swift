import Foundation

/// Distinguishes this program's files from others, before anything is opened or created.
package enum ForeignFiles {
  /// The kinds of cache files.
  package enum Kind {
    case feeds, responses

    fileprivate var applicationID: Int {
      switch self {
      case .feeds: FeedSchema.applicationID
      case .responses: HTTPCacheTables.kind.applicationID
      }
    }
  }

  /// True when the file at the path has content but isn't a cache of this kind. False for a missing or an empty file.
  ///
  /// Reads at most the header, and the log next to it; nothing if the file is open in this process.
  package static func isForeign(_ path: String, to kind: Kind) -> Bool {
    let file = CacheFile(path: path)
    guard let identity = file.identity, identity.isRegular else { return false }
    return file.isForeign(to: kind.applicationID)
  }
}
