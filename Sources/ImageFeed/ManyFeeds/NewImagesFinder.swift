public import FeedStream
public import Foundation
import Synchronization

/// A report, and the images in it that have not been shown before.
public struct NewImages: Sendable {
  public var report: FeedReport
  /// The positions of these images in the feed.
  public var positions: [Int]
  /// True for the first report of a feed that was neither saved nor shown before, so that all of its images are new.
  public var isFirst: Bool
}

/// Finds the images of feeds that have not been shown yet, by their ids, even after restarts.
///
///     finder.reports(of: addresses) { feeds.updates { _ in .seconds(900) } }
///       .sink { new in show(new) { finder.markShown(new) } }
///
/// Images count as shown if they were marked as shown. If there is no record for a feed, the images that are saved when
/// the finder first reads the record count as shown. This finder reports an image as new only once; the next finder
/// reports it again, unless it was marked.
///
/// Use the finder only on its cache's scheduler, like a stream.
public final class NewImagesFinder {
  /// The state of one feed; used on the thread pool, one piece of work at a time.
  fileprivate struct Memory {
    var shown: ShownImages
    /// The images that were shown or found.
    var found: ShownImages
    var isFirst: Bool
  }

  fileprivate final class Memories: Sendable {
    let memories = Mutex<[URL: Memory]>([:])
  }

  private let store: any ShownImagesStore
  private let cache: FeedCache
  private let report: (FeedStoreError) -> Void
  private let memories = Memories()

  /// - Parameters:
  ///   - store: keeps the record.
  ///   - cache: its worker runs the calls to the store, so that ``FeedCache/whenIdle(_:)`` waits for the marks.
  ///   - report: receives the error of a failed call to the store. If a record can't be read, nothing counts as new. If
  ///     a mark can't be written, its images are new again for the next finder.
  public init(store: any ShownImagesStore, cache: FeedCache, reportingTo report: @escaping (FeedStoreError) -> Void) {
    self.store = store
    self.cache = cache
    self.report = report
  }

  /// Reads the record of shown images, then subscribes to the feeds' reports and finds the new images in each.
  ///
  /// **Demand:** one report at a time. **Failure:** none. **Cancellation:** passes through.
  public func reports<P: Publisher>(of addresses: [URL], _ reports: @escaping () -> P) -> AnyPublisher<NewImages, Never>
  where P.Output == FeedReport, P.Failure == Never {
    let (store, memories) = (store, memories)
    let begin = cache.worker.publisher { () -> FeedStoreError? in memories.begin(addresses, store) }
    return
      begin
      .handleEvents(receiveOutput: { [report] in if let error = $0 { report(error) } })
      .flatMap { _ in reports() }
      .flatMap(maxPublishers: .max(1)) { [cache] report in
        cache.worker.publisher { memories.find(report) }
      }
      .eraseToAnyPublisher()
  }

  /// Reads the shown images of additional feeds: call this before their first reports.
  public func add(_ addresses: [URL]) {
    let (store, memories) = (store, memories)
    cache.worker.perform {
      memories.begin(addresses, store)
    } completion: { [report] (result: Result<FeedStoreError?, Never>) in
      if let error = result.get() { report(error) }
    }
  }

  /// Records that the images of a report have been shown.
  public func markShown(_ new: NewImages) {
    guard let images = new.report.feed?.images, new.isFirst || !new.positions.isEmpty else { return }
    mark(new.report.address) { $0.add(images) }
  }

  /// Records that one image of a feed has been shown.
  public func markShown(_ id: FeedImage.ID, of address: URL) {
    mark(address) { $0.add(id) }
  }

  /// Records that a feed has been shown outside of a finder, if the store has a record of the feed's shown images.
  public func note(_ images: FeedImages, of address: URL) {
    let (store, report) = (store, report)
    cache.worker.perform { () throws(FeedStoreError) in
      guard let shown = try store.shownImages(for: address), !shown.new(in: images).isEmpty else { return }
      try store.changeShownImages(for: address) { $0?.add(images) }
    } completion: { result in
      if case .failure(let error) = result { report(error) }
    }
  }

  private func mark(_ address: URL, _ change: @escaping @Sendable (inout ShownImages) -> Void) {
    let (store, memories, report) = (store, memories, report)
    cache.worker.perform { () throws(FeedStoreError) in
      guard let remembered = memories.mark(address, change) else { return }
      try store.changeShownImages(for: address) { shown in
        // Keep the marks that other processes have added to the record.
        if shown == nil { shown = remembered } else { change(&shown!) }
      }
    } completion: { result in
      if case .failure(let error) = result { report(error) }
    }
  }
}

extension NewImagesFinder.Memories {
  /// - Returns: the store's first error.
  func begin(_ addresses: [URL], _ store: any ShownImagesStore) -> FeedStoreError? {
    var first: FeedStoreError?
    for address in addresses where memories.withLock({ $0[address] == nil }) {
      do throws(FeedStoreError) {
        let recorded = try store.shownImages(for: address)
        var shown = recorded ?? ShownImages()
        // A saved feed was loaded before, even if it is empty, or if its images were never shown.
        var wasLoaded = !shown.isEmpty
        if !wasLoaded {
          do throws(FeedStoreError) {
            let saved = try store.retrieve(for: address)
            wasLoaded = saved != nil
            if recorded == nil, let saved { shown.add(saved.images) }
          } catch {
            // With a record, the saved feed isn't needed to find new images.
            guard recorded != nil else { throw error }
            (first, wasLoaded) = (first ?? error, true)
          }
        }
        memories.withLock { $0[address] = .init(shown: shown, found: shown, isFirst: !wasLoaded) }
        // Record them now: later saves don't mean that the images were shown.
        if recorded == nil { try store.changeShownImages(for: address) { $0 = $0 ?? shown } }
      } catch {
        first = first ?? error
      }
    }
    return first
  }

  func find(_ report: FeedReport) -> NewImages {
    guard let images = report.feed?.images else { return NewImages(report: report, positions: [], isFirst: false) }
    return memories.withLock { memories in
      var memory =
        memories[report.address] ?? .init(shown: ShownImages(images), found: ShownImages(images), isFirst: false)
      let new = NewImages(report: report, positions: memory.found.new(in: images), isFirst: memory.isFirst)
      if !new.positions.isEmpty { memory.found.add(images) }
      memory.isFirst = false
      memories[report.address] = memory
      return new
    }
  }

  func mark(_ address: URL, _ change: (inout ShownImages) -> Void) -> ShownImages? {
    memories.withLock { memories in
      guard memories[address] != nil else { return nil }
      change(&memories[address]!.shown)
      return memories[address]!.shown
    }
  }
}
