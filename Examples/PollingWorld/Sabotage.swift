import FeedStream
import Foundation
import ImageFeed

/// A deliberate defect, to check that the simulation finds it.
public enum Sabotage: String, Sendable, CaseIterable {
  /// The loader shows saved feeds of any age.
  case showsExpired
  /// The process loses the saved feed when it restarts.
  case forgetsAtCrash
  /// An earlier response is sometimes shown instead of the latest.
  case showsOldAnswers
  /// Two caches share one store, so nothing keeps their side effects in order.
  case twoCaches
  /// Saves report success and do nothing.
  case savesNothing
  /// A failed save is not reported.
  case hidesFailedSaves
  /// The subscription outlives its process.
  case staysSubscribed
  /// Nothing is ever loaded.
  case neverPolls
  /// A validation deletes no expired or unreadable feed.
  case keepsExpired
  /// A body counts as a feed, regardless of the response's status.
  case believesErrors
}

/// Changes the status of every response to 200.
struct CredulousClient: HTTPClient {
  let client: any HTTPClient

  func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    client.get(request)
      .map { response in
        var response = response
        response.status = 200
        return response
      }
      .eraseToAnyPublisher()
  }
}

/// Replaces one in twenty responses with an earlier one.
final class ForgetfulClient: HTTPClient {
  private let client: any HTTPClient
  private var last: Data?
  private var answers = 0

  init(_ client: any HTTPClient) { self.client = client }

  func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    client.get(request)
      .map { [self] response in
        answers += 1
        var response = response
        if answers % 20 == 0, let last { response.body = last }
        if answers % 20 == 1 { last = response.body }
        return response
      }
      .eraseToAnyPublisher()
  }
}

/// Reports success and does nothing.
struct LyingStore: FeedStore {
  let store: any FeedStore
  let saves: Bool
  let deletes: Bool

  func retrieve(for address: URL) throws(FeedStoreError) -> CachedFeed? { try store.retrieve(for: address) }
  func replace(for address: URL, with feed: CachedFeed, now: Date) throws(FeedStoreError) -> FeedReplacement {
    saves ? try store.replace(for: address, with: feed, now: now) : .replaced
  }
  func summary(for address: URL) throws(FeedStoreError) -> CachedFeedSummary? { try store.summary(for: address) }
  func renew(for address: URL, with renewal: FeedRenewal, now: Date) throws(FeedStoreError) -> FeedReplacement? {
    saves ? try store.renew(for: address, with: renewal, now: now) : .renewed
  }
  func delete(for address: URL, if condition: FeedDeletionCondition) throws(FeedStoreError) -> Bool {
    deletes ? try store.delete(for: address, if: condition) : true
  }
  func summaries() throws(FeedStoreError) -> [CachedFeedSummary] { try store.summaries() }
  func deleteAll() throws(FeedStoreError) { try store.deleteAll() }
}
