package import Foundation

/// Limits the bytes of images that are loaded before anyone opens them: per feed, and for all feeds together.
///
/// Each image gets an equal share of what is left (``room(for:)``), and leaves to the others what it doesn't need. A
/// feed's images are counted in the order in which they are loaded, latest first. So when new ones arrive, the oldest
/// are no longer loaded if nothing is left. Loaded images stay until the store trims them.
package struct ImageBudget: Sendable {
  /// The maximum number of bytes for each feed; 30 MB by default.
  package var perFeed: Int
  /// The maximum number of bytes for all feeds together.
  package var total: Int
  private var spent: [URL: Int] = [:]
  private var all = 0
  /// The numbers of images to load that aren't counted yet.
  private var left: [URL: Int] = [:]
  private var allLeft = 0

  /// - Parameter store: the limit of the store. The budget is 70% of that limit, the size to which the store trims
  ///   itself, so that images that were never opened don't evict others.
  package init(perFeed: Int = 30_000_000, of store: Int) {
    self.perFeed = perFeed
    total = Int(Double(store) * ImageIndex.share)
  }

  /// True when one more image of a feed may be loaded.
  package func allows(_ feed: URL) -> Bool { all < total && spent[feed, default: 0] < perFeed }

  /// The number of bytes that one more image of a feed may take: an equal share of what is left for the images to load.
  package func room(for feed: URL) -> Int {
    func share(_ bytes: Int, _ count: Int) -> Int { max(bytes, 0) / max(count, 1) }
    return min(share(perFeed - spent[feed, default: 0], left[feed, default: 0]), share(total - all, allLeft))
  }

  /// Counts an image that was loaded; 0 bytes for one that wasn't.
  package mutating func spend(_ bytes: Int, on feed: URL) {
    spent[feed, default: 0] += bytes
    all += bytes
    left[feed, default: 0] -= 1
    allLeft -= 1
  }

  /// The same budget, with nothing spent.
  ///
  /// - Parameter images: the feed of each image to load.
  package func unspent(for images: some Sequence<URL>) -> ImageBudget {
    var budget = self
    (budget.spent, budget.all, budget.left, budget.allLeft) = ([:], 0, [:], 0)
    budget.expect(images)
    return budget
  }

  /// Counts more images to load, which share what the others leave.
  ///
  /// - Parameter images: the feed of each image.
  package mutating func expect(_ images: some Sequence<URL>) {
    for feed in images {
      left[feed, default: 0] += 1
      allLeft += 1
    }
  }
}
