import Foundation

/// The most recently used images, up to a maximum number of bytes. Use this value only on one thread, like a stream.
struct MemoryImages {
  private struct Entry {
    var image: Saved<FetchedImage>
    var older: URL?
    var newer: URL?
  }

  /// The maximum number of bytes of all images together; a single one may take up to a tenth of that, so that a large
  /// one doesn't evict all others.
  let limit: Int
  private(set) var bytes = 0
  private var entries: [URL: Entry] = [:]
  private var oldest: URL?
  private var newest: URL?

  init(limit: Int) { self.limit = limit }

  var count: Int { entries.count }

  /// The image for `url`, which becomes the most recently used.
  mutating func use(_ url: URL) -> Saved<FetchedImage>? {
    guard let image = entries[url]?.image else { return nil }
    if newest != url {
      unlink(url)
      link(url)
    }
    return image
  }

  mutating func insert(_ image: Saved<FetchedImage>, for url: URL) {
    remove(url)
    let size = image.value.data.bytes.count
    guard size <= limit / 10 else { return }
    while bytes + size > limit, let oldest { remove(oldest) }
    entries[url] = Entry(image: image)
    bytes += size
    link(url)
  }

  mutating func remove(_ url: URL) {
    guard let entry = entries[url] else { return }
    unlink(url)
    entries[url] = nil
    bytes -= entry.image.value.data.bytes.count
  }

  private mutating func link(_ url: URL) {
    entries[url]?.older = newest
    entries[url]?.newer = nil
    if let newest { entries[newest]?.newer = url } else { oldest = url }
    newest = url
  }

  private mutating func unlink(_ url: URL) {
    guard let entry = entries[url] else { return }
    if let older = entry.older { entries[older]?.newer = entry.newer } else { oldest = entry.newer }
    if let newer = entry.newer { entries[newer]?.older = entry.older } else { newest = entry.older }
  }
}
