import Foundation

extension ForeignFiles {
  /// True if there is a folder at the path with content that ``DiskImageStore`` did not write.
  package static func isForeign(imageFolder folder: String) -> Bool {
    let index = CacheFile(path: "\(folder)/index.sqlite")
    if index.identity != nil { return index.isForeign(to: ImageIndex.kind.applicationID) }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    guard names.allSatisfy({ $0 == "data" || $0.hasPrefix("index.sqlite") }) else { return true }
    // Without an index, either the index was lost, or the folder belongs to another program or user.
    let files = (try? FileManager.default.subpathsOfDirectory(atPath: "\(folder)/data")) ?? []
    return !files.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{2}/) != nil || ImageFile.isName($0) }
  }
}
