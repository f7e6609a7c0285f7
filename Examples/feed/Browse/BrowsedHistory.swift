import FeedStream
import Foundation
import ImageFeed

/// The history of feeds, for `feed browse`. It is read only when it is needed.
final class BrowsedHistory {
  var post: (BrowseEvent) -> Void = { _ in }
  private let history: FeedHistory
  private var running: [String: AnyCancellable] = [:]
  private var visits = 0
  /// The stars that are being changed. The changes are saved even when the browser ends.
  private var starring: [Star: Change] = [:]

  private struct Star: Hashable {
    let id: FeedImage.ID
    let address: URL
  }

  /// The changes of one star, which are made one after another.
  private struct Change {
    /// True if the item is starred in the cache.
    var isSaved: Bool
    /// True if the item is starred after the last change.
    var isWanted: Bool
    /// The number of changes that haven't completed.
    var waiting = 0
    var running: [AnyCancellable] = []
  }

  init(_ history: FeedHistory) { self.history = history }

  /// Records that a page is shown, and reports which of its items are new. A visit doesn't replace an earlier one of the
  /// same feed: only the first visit that shows an item reports it as new.
  func visit(_ images: FeedImages, of address: URL) {
    visits += 1
    run("visit \(visits)", history.visit(images, of: address)) { [unowned self] visit in
      // Stars that were changed in the meantime aren't saved yet.
      var stars = visit.stars
      for (star, change) in starring where star.address == address {
        if change.isWanted { stars.insert(star.id) } else { stars.remove(star.id) }
      }
      return .marks(address, new: visit.new, stars: stars)
    }
  }

  func read(_ address: URL, after place: SeenPage.Place?) {
    run("read \(address)", history.page(of: address, after: place), orElse: .unkept(address)) { .kept(address, $0) }
  }

  /// Cancels the reads, whose results would be outdated after a refresh.
  func cancelReads() { running = running.filter { !$0.key.hasPrefix("read ") } }

  /// Finds the items that match a filter. Only the results of the latest query are reported.
  func find(_ filter: BrowseState.Filter, in feeds: [URL]) {
    let page = history.results(of: filter.query(in: feeds)) { [weak self] progress in
      self?.post(.message("\(BrowseState.indexing)\(progress.text)…"))
    }
    .prefix(filter.pages).collect().map { SeenPage(images: $0.flatMap(\.images)) }
    run("find", page.eraseToAnyPublisher(), orElse: .found(filter, SeenPage(images: []))) { .found(filter, $0) }
  }

  /// Stars an item, or removes its star. If that fails, reports the saved state.
  func star(_ isStarred: Bool, _ id: FeedImage.ID, of address: URL) {
    let star = Star(id: id, address: address)
    starring[star, default: Change(isSaved: !isStarred, isWanted: isStarred)].isWanted = isStarred
    starring[star]?.waiting += 1
    let change = history.setStar(isStarred, id, of: address)
      .sink { [weak self] completion in
        self?.ended(star)
        if case .failure(let error) = completion { self?.post(.message("\(error)")) }
      } receiveValue: { [weak self] isThere in
        self?.starring[star]?.isSaved = isThere && isStarred
        if isStarred, !isThere { self?.post(.message("The item isn't saved, so it can't be starred.")) }
      }
    starring[star]?.running.append(change)
  }

  /// Records that a change of a star has completed.
  private func ended(_ star: Star) {
    starring[star]?.waiting -= 1
    guard let change = starring[star], change.waiting == 0 else { return }
    starring[star] = nil
    if change.isSaved != change.isWanted { post(.starred(change.isSaved, star.id, of: star.address)) }
  }

  /// Saves the image of a starred item.
  func keep(_ url: URL, _ loaded: AnyPublisher<LoadedImage, ImageError>) {
    running["keep \(url)"] = loaded.sink { [weak self] completion in
      if case .failure(let error) = completion { self?.post(.message("The starred image couldn't be saved: \(error)")) }
    } receiveValue: { _ in
    }
  }

  /// Cancels everything except changes of stars.
  func cancel() { running = [:] }

  private func run<Value>(
    _ name: String, _ work: AnyPublisher<Value, FeedStoreError>, orElse failed: BrowseEvent? = nil,
    _ event: @escaping (Value) -> BrowseEvent
  ) {
    running[name] = work.sink { [weak self] completion in
      self?.running[name] = nil
      guard case .failure(let error) = completion else { return }
      if let failed { self?.post(failed) }
      self?.post(.message("\(error)"))
    } receiveValue: { [weak self] in
      self?.post(event($0))
    }
  }
}
