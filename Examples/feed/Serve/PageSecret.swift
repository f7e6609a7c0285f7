import Foundation

/// The secret from which the names of pictures in the page's URLs are made: nobody else can tell which picture has which name, and
/// so find out what is in somebody's feeds.
enum PageSecret {
  private static let count = 16

  static func random() -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255) } }

  /// The one that is kept next to a cache file, so that addresses that other readers have are right after a restart; made when
  /// there is none. One for this run where it cannot be kept.
  static func kept(besideCacheAt path: String) -> [UInt8] {
    let cache = URL(fileURLWithPath: path)
    let place = cache.deletingPathExtension().path + ".serve-key"
    if let bytes = read(place) { return bytes }
    let bytes = random()
    let temporary = "\(place).\(UUID().uuidString).new"
    let manager = FileManager.default
    try? manager.createDirectory(
      at: cache.deletingLastPathComponent(), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { unlink(temporary) }
    guard manager.createFile(atPath: temporary, contents: Data(bytes), attributes: [.posixPermissions: 0o600]) else {
      return bytes
    }
    // An invalid key is replaced; if another process was quicker, its key counts.
    if manager.fileExists(atPath: place) { rename(temporary, place) } else { link(temporary, place) }
    return read(place) ?? bytes
  }

  private static func read(_ place: String) -> [UInt8]? {
    let bytes = FileManager.default.contents(atPath: place).map(Array.init)
    return bytes?.count == count ? bytes : nil
  }
}
