import Foundation

/// A folder that is removed when this object is released.
final class TemporaryFolder: Sendable {
  let path: String

  init() {
    path = FileManager.default.temporaryDirectory.appending(path: "ImageFeedTests-\(UUID())").path
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      preconditionFailure("Tests need a temporary folder; make \(path) creatable: \(error)")
    }
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// A path in the folder for a new file.
  func file(_ name: String = "feeds.sqlite") -> String { "\(path)/\(name)" }

  var contents: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
  }
}
