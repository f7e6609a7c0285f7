import Foundation
import GRDB

/// Rebuilds a lost index from the files, and deletes files, to make room or without changing the index.
extension ImageIndex {
  /// Deletes the files of all images except the kept ones, as far as possible. Files that are being written stay.
  func removeFiles(but kept: Set<URL>) {
    let (root, kept) = ("\(folder)/data", Set(kept.map(ImageFile.name(for:))))
    for name in (try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? [] {
      if ImageFile.isName(name), !name.hasSuffix(".new"), !kept.contains(name) { unlink("\(root)/\(name)") }
    }
  }

  /// Deletes the least recently used images until that many bytes have been freed: first those of more than a
  /// thousandth of the limit, because many others fit into their place, such as their own smaller sizes. In both
  /// groups, images that were used while the clock was ahead come first; otherwise, new ones would be deleted first.
  func makeRoom(of bytes: Int, but kept: Set<URL>, now: Date, _ db: Database) throws {
    let names = Set(kept.map(\.absoluteString))
    let latest = now.timeIntervalSinceReferenceDate + FeedCachePolicy.clockTolerance / .seconds(1)
    let rows = try Row.fetchCursor(
      db, sql: "SELECT url, bytes FROM image ORDER BY bytes <= ?, used <= ?, used, url",
      arguments: [limit / 1000, latest])
    var bytes = bytes
    while bytes > 0, let row = try rows.next() {
      let url: String = try row.value(0)
      guard !names.contains(url) else { continue }
      try Self.delete(url, in: folder, db)
      bytes -= Self.bounded(try row.value(1))
    }
  }

  /// Adds files without a row, newest first, until there is no more room, and removes unusable files, but not those
  /// that can't be read. Kept images are always added, and their bytes don't count; if it can't be determined which
  /// images are kept, all are added.
  static func adoptFiles(
    of folder: String, limit: Int, kept readKept: DiskImageStore.KeptImages, into db: Database
  ) throws {
    let root = "\(folder)/data"
    var total = try totalBytes(db)
    // Read once, when there is no more room.
    var kept: (isRead: Bool, urls: Set<URL>?) = (false, nil)
    var known: Set<String> = []
    for url in try String.fetchAll(db, sql: "SELECT url FROM image") {
      if let url = URL(string: url) { known.insert(ImageFile.name(for: url)) }
    }
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? []
    let files = names.compactMap { name in
      // Leave files of other programs in the folder alone.
      ImageFile.isName(name) && !known.contains(name)
        ? CacheFile.identity(of: "\(root)/\(name)").map { (name, $0) } : nil
    }
    for (name, identity) in files.sorted(by: { $0.1.changed > $1.1.changed }) where identity.isRegular {
      let path = "\(root)/\(name)"
      if name.hasSuffix(".new") {
        // Another process may be writing it.
        if Date().timeIntervalSince(identity.changed) > 600 { unlink(path) }
        continue
      }
      let bytes = Int(identity.size)
      let file: ImageFile?
      do { file = try ImageFile.read(path) } catch { continue }
      guard let saved = file, ImageFile.name(for: saved.url) == name else {
        unlink(path)
        continue
      }
      let room = limit - (try ownBytes(db))
      if total + bytes > room, !kept.isRead {
        kept = (true, try? readKept())
        total -= try Self.bytes(of: kept.urls ?? [], db)
      }
      let isKept = kept.urls?.contains(saved.url) ?? false
      let hasRoom = total + bytes <= room
      if !hasRoom, !isKept, kept.urls != nil {
        unlink(path)
        continue
      }
      try insert(saved.url, bytes, saved.image, now: identity.changed, db)
      if hasRoom, !isKept { total += bytes }
    }
  }
}
