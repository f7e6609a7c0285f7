import FeedPolling
import FeedStream
import Foundation
import ImageFeed

extension ServeCommand {
  /// Polls the feeds and shows them in the gallery.
  func follow(
    _ selection: FeedSelection, _ gallery: Gallery, _ client: ObservedClient, _ cache: FeedCache,
    _ store: SQLiteFeedStore, _ hubs: HubSubscriber?, on session: Session
  ) -> AnyCancellable {
    let (console, loop) = (session.console, session.loop)
    selection.subscriptions.warnOfUnusableCredentials(on: console)
    var options = FeedLoader.Options()
    options.maxAge = common.maxAge.duration
    options.timeout = timeout.duration
    options.report = { console.warn($0) }
    options.pageImages = PageImageBook(store)
    let poll = { [every] (feed: SubscribedFeed) -> PolledAddress in
      var polled = PolledAddress(feed.address, every: feed.interval ?? every.duration, options: options)
      let headers = RequestOptions(of: feed).headers(for: feed.address)
      if !headers.isEmpty { polled.client = client.sending(headers, to: feed.address) }
      return polled
    }
    var places = Self.places(of: selection.subscriptions)
    var polling = FeedPoller.Options()
    polling.report = options.report
    polling.onPause = { console.warn($1, of: $0) }
    polling.onOutcome = { gallery.polls[$1, default: 0] += 1 }
    polling.onDecision = { [isVerbose = common.log.verbose, unowned loop] address, decision in
      if isVerbose {
        console.report("\(address.shown): \(ExplanationText(style: .plain, now: Date()).line(decision))", .debug)
      }
      // Count the poll later, because its result is delivered after this decision.
      loop.schedule { if let place = places[address] { gallery.noteCheck(of: place) } }
    }
    var poller = FeedPoller(
      selection.subscriptions.map(poll), client: client, cache: cache, store: store, on: loop, options: polling)
    if let hubs { poller = poller.notified(by: hubs) }
    if let list = selection.list {
      poller = poller.following(
        list.changes(on: session).map { feeds in
          places = Self.places(of: feeds)
          gallery.follow(feeds.map(Gallery.Name.init))
          return feeds.map(poll)
        })
    }
    let warnings = FailureWarnings(on: console)
    return
      pages.finding(
        in: poller, room: polling.maxRunning, client: client, cache: cache, store: store, on: session
      )
      .sink {
        guard let place = places[$0.address] else { return }
        warnings.take($0)
        gallery.take($0.result, from: place)
      }
  }

  /// The position of each feed in the gallery.
  private static func places(of feeds: [SubscribedFeed]) -> [URL: Int] {
    Dictionary(feeds.enumerated().map { ($1.address.absoluteURL, $0) }) { first, _ in first }
  }
}

extension Gallery.Name {
  init(_ feed: SubscribedFeed) {
    self.init(address: feed.address, title: feed.title, interval: feed.interval, folders: feed.folders)
  }
}
