import FeedStream
import Foundation
import ImageFeed

/// The feed that the command line describes: its loader, and who can explain why there is nothing to show.
final class FeedSource {
  let loader: FeedLoader
  let store: NotingStore
  private let options: LoadOptions
  private let cache: FeedCache
  private let session: Session

  init(_ options: LoadOptions, on session: Session, observer: (any RequestObserver)?) {
    self.options = options
    self.session = session
    let (loop, log, console) = (session.loop, session.log, session.console)
    store = NotingStore(SQLiteFeedStore(cacheAt: options.common.cachePath, on: session), log: log)
    cache = FeedCache(store: store, on: loop)
    session.cache = cache
    let client = ObservedClient(client: CurlHTTPClient(on: loop), observer: observer, log: log)
    var choices = FeedLoader.Options()
    choices.maxAge = options.common.maxAge.duration
    choices.fallback = options.fallback
    choices.timeout = options.timeout.duration
    choices.report = { console.warn("\($0)") }
    loader = FeedLoader(options.address, client: client, cache: cache, on: loop, options: choices)
  }

  /// Finds out what the cache had to do with a failure.
  func explain(_ error: FeedError, _ tell: @escaping (NothingToShow) -> Void) {
    let (address, maxAge) = (options.address, options.common.maxAge.duration)
    func tellWith(_ saved: NothingToShow.Saved) {
      tell(NothingToShow(address: address, error: error, maxAge: maxAge, saved: saved))
    }
    let note = store.takeNote()
    let age = note?.timestamp.map { FeedCachePolicy.age(of: $0, now: Date()) }
    if let failure = error.cache {
      guard case .deletion = failure, let age else { return tellWith(.unreadable(failure)) }
      return tellWith(.expired(age: age, .stuck(failure)))
    }
    // Not the note decides: an earlier load may have left one.
    if options.fallback.applies(to: error.remote) {
      return tellWith(age.map { .expired(age: $0, note?.isDeleted == true ? .deleted : .kept) } ?? .nothing)
    }
    // The cache was not asked. Now it is, to say what it has.
    session.follow(
      cache.feed(at: address).retrieve()
        .map { NothingToShow.Saved.notWanted(age: FeedCachePolicy.age(of: $0.timestamp, now: Date())) }
        .switchIfEmpty(Just(.notWanted(age: nil)).setFailureType(to: FeedStoreError.self))
        .catch { Just(.unreadable($0)) },
      receiveValue: tellWith)
  }
}

extension SQLiteFeedStore {
  /// The cache of a session, which hears of a damaged file that was set aside.
  convenience init(cacheAt path: String, on session: Session) {
    let loop = session.loop
    // A session belongs to its loop: it is handed over unused, and used there.
    nonisolated(unsafe) let console = session.console
    self.init(path: path) { aside in
      loop.execute { console.warn("The cache file was damaged and has been set aside as \(aside).") }
    }
  }
}
