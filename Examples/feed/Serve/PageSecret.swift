import ArgumentParser
import Foundation
import PlainText

/// The secret from which the names of images in the page's URLs are made. Without it, others can't tell which image a
/// name stands for, and therefore can't find out which images are in a user's feeds.
enum PageSecret {
  private static let count = 16

  static func random() -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255) } }

  /// The secret that is kept next to a cache file, so that URLs in feed readers stay valid after a restart; it is
  /// created if there is none. If it can't be kept, returns a secret for this run only.
  ///
  /// - Throws: `ValidationError` if the file at that path is not a key.
  static func kept(besideCacheAt path: String) throws -> [UInt8] {
    let cache = URL(fileURLWithPath: path)
    let place = cache.deletingPathExtension().path + ".serve-key"
    let manager = FileManager.default
    if let bytes = read(place) { return bytes }
    if let size = try? manager.attributesOfItem(atPath: place)[.size] as? Int, size > 0 {
      // Another process may have created the key since.
      if let bytes = read(place) { return bytes }
      throw ValidationError(
        "\(place.printable) isn't a key that this program wrote, so it was left unchanged. Choose another cache file.")
    }
    let bytes = random()
    let temporary = "\(place).\(UUID().uuidString).new"
    try? manager.createDirectory(
      at: cache.deletingLastPathComponent(), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { unlink(temporary) }
    guard manager.createFile(atPath: temporary, contents: Data(bytes), attributes: [.posixPermissions: 0o600]) else {
      return bytes
    }
    // If another process was faster, its key is used. Only an empty file is replaced.
    if link(temporary, place) != 0, (try? manager.attributesOfItem(atPath: place)[.size] as? Int) == 0 {
      rename(temporary, place)
    }
    return read(place) ?? bytes
  }

  private static func read(_ place: String) -> [UInt8]? {
    let bytes = FileManager.default.contents(atPath: place).map(Array.init)
    return bytes?.count == count ? bytes : nil
  }
}
