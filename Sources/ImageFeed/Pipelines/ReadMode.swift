public import FeedStream
import Foundation
import PlainText

/// Determines which feed a load delivers, the server's or the saved one, and whether it makes a request.
public enum ReadMode: Hashable, Sendable {
  /// The server's feed, or the saved one if the server's feed is unavailable, as in ``FeedLoader/load()``.
  case networkFirst
  /// The saved feed, and then the server's if its images differ.
  case staleWhileRevalidate
  /// The saved feed; a request is made only if there is none.
  case cacheFirst
  /// The saved feed. No request is made.
  case cacheOnly
  /// The server's feed. The saved one is not shown, but the server needn't send it again if it has not changed.
  case networkOnly
  /// The saved feed, if it is younger than the interval; otherwise, a request is made. Limits how often all programs
  /// that share a cache request a feed from its server.
  case minimumInterval(Duration)
}

extension FeedLoader {
  /// The feed, from the server or the cache, according to `mode`.
  ///
  /// In every mode, a complete feed from the server is saved. Part of a feed is shown if no saved feed can be shown. A
  /// saved feed is shown until ``Options/maxAge``, with the time of its request and the reason why it is shown instead
  /// of the server's. The reason is the request's failure. If no request was made, it is ``RemoteFeedError/notAsked``,
  /// or ``RemoteFeedError/notDue(until:_:)`` for ``ReadMode/minimumInterval(_:)``. No mode deletes a saved feed, even
  /// an expired one. **Demand:** a feed is held until requested. **Failure:** ``FeedError`` if there is nothing to
  /// show; ``ReadMode/staleWhileRevalidate`` also fails if the server's feed is unavailable after the saved one was
  /// shown. If that mode finishes after the saved feed, the saved one is current. **Cancellation:** closes the request
  /// immediately; a requested save is completed.
  ///
  ///     let subscription = loader.load(.staleWhileRevalidate).sink { print($0) } receiveValue: { print($0.images.count) }
  public func load(_ mode: ReadMode) -> AnyPublisher<Feed, FeedError> {
    switch mode {
    case .networkFirst:
      load()
    case .staleWhileRevalidate:
      savedThenLatest
        .removeDuplicates { $0.images == $1.images }
        .eraseToAnyPublisher()
    case .cacheFirst:
      load(.cacheOnly)
        .catch { _ in load() }
        .eraseToAnyPublisher()
    case .cacheOnly:
      saved.load(maxAge: options.maxAge)
        .map { Loaded($0, because: .notAsked, now: cache.now()) }
        .mapError { FeedError(remote: .notAsked, cache: $0) }
        .eraseToAnyPublisher()
    case .networkOnly:
      latestFeed().showingParts().eraseToAnyPublisher()
    case .minimumInterval(let interval):
      saved.load(maxAge: options.maxAge.map { min($0, interval) } ?? interval)
        .map { Loaded($0, because: .notDue(since: $0.timestamp, atMostEvery: interval), now: cache.now()) }
        .catch { _ in load() }
        .eraseToAnyPublisher()
    }
  }

  /// The saved feed, if there is one that may be shown, and then the server's, even if they are the same.
  var savedThenLatest: AnyPublisher<Feed, FeedError> {
    load(.cacheOnly).asResult()
      .setFailureType(to: FeedError.self)
      .flatMap { saved -> AnyPublisher<Feed, FeedError> in
        switch saved {
        case .success(let feed): latestFeed().prepend(feed).eraseToAnyPublisher()
        case .failure(let error): latestFeed(instead: error.cache).showingParts().eraseToAnyPublisher()
        }
      }
      .eraseToAnyPublisher()
  }

  /// - Parameter miss: the reason why there is no saved feed to show.
  func latestFeed(instead miss: CacheMiss = .notAsked) -> AnyPublisher<Feed, FeedError> {
    latest
      .map { Loaded($0, source: .remote) }
      .mapError { FeedError(remote: $0, cache: miss) }
      .eraseToAnyPublisher()
  }
}

extension RemoteFeedError {
  /// The reason for a feed that was requested at `date`, less than the minimum interval ago.
  fileprivate static func notDue(since date: Date, atMostEvery interval: Duration) -> RemoteFeedError {
    .notDue(
      until: date.addingTimeInterval(interval / .seconds(1)), "it is requested at most once every \(interval.text)")
  }
}
