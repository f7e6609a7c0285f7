/// The folder watches of a loop. The system keeps their announcements in one queue, and silently drops those that don't
/// fit.
package final class FolderWatches {
  /// After this number of announcements in one turn of the loop, the system may have dropped others.
  private static let limit = 1_024

  private var watches: [Int: (FolderHint) -> Void] = [:]
  private var lastKey = 0
  /// The number of announcements in this turn of the loop.
  private var count = 0

  package init() {}

  /// - Parameter announce: called for each announcement to this watch, and when announcements to any watch of the loop
  ///   may be lost.
  /// - Returns: the key of the watch.
  package func add(_ announce: @escaping (FolderHint) -> Void) -> Int {
    lastKey += 1
    watches[lastKey] = announce
    return lastKey
  }

  package func remove(_ key: Int) { watches[key] = nil }

  /// Passes an announcement to the watch with this key, unless it was removed.
  package func announce(_ hint: FolderHint, to key: Int, on scheduler: any LoopScheduler) {
    guard let announce = watches[key] else { return }
    count += 1
    if count == 1 { _ = scheduler.once(after: .zero) { [weak self] in self?.endTurn() } }
    announce(hint)
  }

  private func endTurn() {
    let isTooMany = count >= Self.limit
    count = 0
    guard isTooMany else { return }
    // A watch that is called may add and remove others.
    for key in watches.keys.sorted() { watches[key]?(FolderHint(name: nil, kind: .entry)) }
  }
}
