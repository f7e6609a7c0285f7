import Foundation

/// Tells files of ours from others, before anything is opened or made.
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

  /// True when a file at the path has content that is not a cache of this kind. False for a missing or an empty file.
  ///
  /// Reads at most the header, and the log beside it.
  package static func isForeign(_ path: String, to kind: Kind) -> Bool {
    let file = CacheFile(path: path)
    guard let identity = file.identity, identity.isRegular else { return false }
    return file.isForeign(to: kind.applicationID)
  }

  /// True when there is a folder at the path with content that ``DiskImageStore`` did not put there.
  package static func isForeign(imageFolder folder: String) -> Bool {
    let index = CacheFile(path: "\(folder)/index.sqlite")
    if index.identity != nil { return index.isForeign(to: ImageIndex.applicationID) }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    guard names.allSatisfy({ $0 == "data" || $0.hasPrefix("index.sqlite") }) else { return true }
    // The index is lost, or these are somebody's own files.
    let files = (try? FileManager.default.subpathsOfDirectory(atPath: "\(folder)/data")) ?? []
    return !files.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{2}/) != nil || ImageFile.isName($0) }
  }
}
