package import Foundation

/// Limits the bytes of images that are loaded before anyone opens them: per feed, and for all feeds together.
///
/// A feed's images are counted in the order in which they are loaded, latest first. So when new ones arrive, the
/// oldest are no longer loaded. Loaded images stay until the store trims them.
package struct ImageBudget: Sendable {
  /// The maximum number of bytes for each feed; 30 MB by default.
  package var perFeed: Int
  /// The maximum number of bytes for all feeds together.
  package var total: Int
  private var spent: [URL: Int] = [:]
  private var all = 0

  /// - Parameter store: the limit of the store. The budget is 70% of that limit, the size to which the store trims
  ///   itself, so that images that were never opened don't evict others.
  package init(perFeed: Int = 30_000_000, of store: Int) {
    self.perFeed = perFeed
    total = Int(Double(store) * ImageIndex.share)
  }

  /// True when one more image of a feed may be loaded.
  package func allows(_ feed: URL) -> Bool { all < total && spent[feed, default: 0] < perFeed }

  /// Counts an image that was loaded.
  package mutating func spend(_ bytes: Int, on feed: URL) {
    spent[feed, default: 0] += bytes
    all += bytes
  }

  /// The same budget, with nothing spent.
  package var unspent: ImageBudget {
    var budget = self
    (budget.spent, budget.all) = ([:], 0)
    return budget
  }
}
