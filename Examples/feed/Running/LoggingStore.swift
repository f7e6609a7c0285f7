import Foundation
import ImageFeed
import Logging

/// A store that logs each call and its result.
struct LoggingStore: FeedStore {
  let store: any FeedStore
  let log: Logger

  func retrieve(for address: URL) throws(FeedStoreError) -> CachedFeed? {
    let feed = try store.retrieve(for: address)
    log.debug("cache read", metadata: ["saved": "\(feed?.timestamp.stamp ?? "nothing")"])
    return feed
  }

  func replace(for address: URL, with feed: CachedFeed, now: Date) throws(FeedStoreError) -> FeedReplacement {
    let result = try store.replace(for: address, with: feed, now: now)
    log.debug("cache saved", metadata: ["images": "\(feed.images.count)", "result": "\(result)"])
    return result
  }

  func summary(for address: URL) throws(FeedStoreError) -> CachedFeedSummary? { try store.summary(for: address) }

  func renew(for address: URL, with renewal: FeedRenewal, now: Date) throws(FeedStoreError) -> FeedReplacement? {
    let result = try store.renew(for: address, with: renewal, now: now)
    log.debug("cache renewed", metadata: ["result": "\(result.map { "\($0)" } ?? "nothing to renew")"])
    return result
  }

  @discardableResult
  func delete(for address: URL, if condition: FeedDeletionCondition) throws(FeedStoreError) -> Bool {
    let isDeleted = try store.delete(for: address, if: condition)
    log.debug("cache deletion", metadata: ["deleted": "\(isDeleted)"])
    return isDeleted
  }

  func summaries() throws(FeedStoreError) -> [CachedFeedSummary] { try store.summaries() }

  func deleteAll() throws(FeedStoreError) { try store.deleteAll() }
}
