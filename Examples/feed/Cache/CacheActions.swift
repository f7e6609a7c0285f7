import FeedStream
import Foundation
import ImageFeed
import PlainText

/// The actions of the cache commands.
struct CacheActions {
  /// The path as the user wrote it.
  let path: String
  let store: any FeedStore
  /// The feeds' former items, and the stars.
  let history: any HistoryStore
  let worker: SerialWorker
  let cache: FeedCache
  let maxAge: Duration?
  let style: Style
  var now: () -> Date = { Date() }

  /// Lists the saved feeds, one per line, or shows one feed with its images; delivers nothing if that isn't saved.
  func show(_ address: URL?) -> AnyPublisher<String, FeedStoreError> {
    guard let address else { return summaries.map(text).eraseToAnyPublisher() }
    return cache.feed(at: address).retrieve().map { text(of: $0, at: address) }.eraseToAnyPublisher()
  }

  /// Deletes feeds that have expired or cannot be read, and reports them.
  func validate(_ address: URL?) -> AnyPublisher<String, FeedStoreError> {
    if let address { return validate(one: address) }
    return
      deleteIfDamaged
      .flatMap { wasDamaged in
        wasDamaged
          ? Just("\(style.bad("Damaged")) and renamed: \(path.printable)\n")
            .setFailureType(to: FeedStoreError.self).eraseToAnyPublisher()
          : validateAll
      }
      .eraseToAnyPublisher()
  }

  /// Deletes one feed, or all.
  ///
  /// - Parameter withHistory: true to also delete the history, the stars and the record of shown items; otherwise, the
  ///   output mentions them.
  func clear(_ address: URL?, withHistory: Bool = false) -> AnyPublisher<String, FeedStoreError> {
    let (store, history) = (store, history)
    return worker.publisher {
      () throws(FeedStoreError) -> (count: Int?, forgotten: HistorySummary, left: HistorySummary) in
      let count: Int?
      let before = try? withHistory ? history.historySummary() : nil
      if let address {
        count = try store.delete(for: address) ? 1 : 0
      } else {
        // A damaged file can be cleared, too.
        count = try? store.summaries().count
        try store.deleteAll()
      }
      if withHistory { try history.forgetHistory(of: address) }
      let left = try history.historySummary()
      let forgotten = HistorySummary(
        kept: (before?.kept ?? 0) - left.kept, starred: (before?.starred ?? 0) - left.starred)
      return (count, forgotten, left)
    }
    .map { result in
      cleared(result.count, result.forgotten, address)
        + (withHistory ? "" : Self.words(for: result.left, isOfOne: address != nil))
    }
    .eraseToAnyPublisher()
  }

  private func cleared(_ count: Int?, _ forgotten: HistorySummary, _ address: URL?) -> String {
    let parts = [(forgotten.kept, "former item"), (forgotten.starred, "star")].filter { $0.0 > 0 }
    if count == 0, !parts.isEmpty {
      let place = address.map { "of \($0.shown)" } ?? "in \(path.printable)"
      return "Cleared \(parts.map { counted($0.0, $0.1) }.joined(separator: " and ")) \(place)\n"
    }
    if let address { return count == 0 ? nothing(for: address) : "Cleared \(address.shown)\n" }
    if count == 0 { return "No feeds are saved in \(path.printable)\n" }
    return "Cleared \(count.map { counted($0, "feed") } ?? "all feeds") in \(path.printable)\n"
  }

  private static func words(for left: HistorySummary, isOfOne: Bool) -> String {
    guard left.kept > 0 || left.starred > 0 else { return "" }
    // The summary counts the items of all feeds.
    if isOfOne { return "Its former items and stars, if any, are kept; to delete them too, use --all\n" }
    let items = counted(left.kept, "former item")
    let stars = "\(left.starred) \(left.starred == 1 ? "star with its image" : "stars with their images")"
    return "Kept: \(items), and \(stars); to delete them too, use --all\n"
  }
}

extension CacheActions {
  private var summaries: AnyPublisher<[CachedFeedSummary], FeedStoreError> {
    worker.publisher { [store] () throws(FeedStoreError) in try store.summaries() }
  }

  private var validateAll: AnyPublisher<String, FeedStoreError> {
    summaries
      .flatMap { feeds in
        Publishers.Sequence<[CachedFeedSummary], FeedStoreError>(sequence: feeds)
          .flatMap(maxPublishers: .max(1)) { validate(one: $0.address) }
          .switchIfEmpty(Just(nothing()).setFailureType(to: FeedStoreError.self))
      }
      .eraseToAnyPublisher()
  }

  private func validate(one address: URL) -> AnyPublisher<String, FeedStoreError> {
    cache.feed(at: address).validate(maxAge: maxAge)
      .map { found in
        found == .empty ? nothing(for: address) : "\(address.shown): \(words(for: found))\n"
      }
      .eraseToAnyPublisher()
  }

  /// Renames a damaged file, and reports whether there was one.
  ///
  /// Uses a deletion whose condition is that the feed can't be read. If another program has repaired the file in the
  /// meantime, there is nothing to delete, and no saved feed is lost.
  private var deleteIfDamaged: AnyPublisher<Bool, FeedStoreError> {
    worker.publisher { [store] () throws(FeedStoreError) -> Bool in
      do throws(FeedStoreError) {
        _ = try store.summaries()
        return false
      } catch {
        guard case .damaged = error.cause else { throw error }
        try store.delete(for: Self.nobody, if: .unreadable)
        _ = try store.summaries()
        return true
      }
    }
  }

  /// A URL that no feed has (RFC 2606).
  private static let nobody = URL(string: "http://feed.invalid/")!

  private func words(for found: CacheValidation) -> String {
    switch found {
    case .empty: "nothing saved"
    case .valid: style.good("valid")
    case .deletedExpired(let age): style.warning(age < .zero ? "dated \(age.ago), deleted" : "expired, deleted")
    case .deletedUnreadable(let error): "\(style.bad("unreadable, deleted")) (\("\(error.cause)".printable))"
    }
  }
}

extension CacheActions {
  /// One line for each feed.
  func text(_ feeds: [CachedFeedSummary]) -> String {
    guard !feeds.isEmpty else { return nothing() }
    return feeds.map { feed in
      line(feed.address, imageCount: feed.imageCount, timestamp: feed.timestamp)
    }.joined()
  }

  /// One feed with its images.
  func text(of feed: CachedFeed, at address: URL) -> String {
    let line = line(address, imageCount: feed.images.count, timestamp: feed.timestamp)
    let entries = FeedText(address: address, style: style).entries(of: feed.images)
    return entries.isEmpty ? line : "\(line)\n\(entries)"
  }

  private func line(_ address: URL, imageCount: Int, timestamp: Date) -> String {
    let now = now()
    let isValid = FeedCachePolicy(maxAge: maxAge).isValid(timestamp, now: now)
    let age = FeedCachePolicy.age(of: timestamp, now: now)
    let fault = isValid ? "" : style.warning(age < .zero ? ", because a clock was wrong" : ", expired")
    return "\(address.shown): \(style.bold(counted(imageCount, "image"))), saved \(age.ago) "
      + "(\(timestamp.dayAndTime))\(fault)\n"
  }

  private func nothing(for address: URL? = nil) -> String {
    guard let address else { return "Nothing is saved in \(path.printable)\n" }
    return "Nothing is saved for \(address.shown) in \(path.printable)\n"
  }
}
