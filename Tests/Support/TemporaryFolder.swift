import Foundation

/// A folder that is removed when this object is released.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() {
    path = FileManager.default.temporaryDirectory.appending(path: "feedstream-\(UUID())").path
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
  package func file(_ name: String = "feeds.sqlite") -> String { "\(path)/\(name)" }

  package var contents: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
  }
}
