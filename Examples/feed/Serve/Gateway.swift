import FeedFleet
import FeedRedis
import Foundation
import ImageFeed
import Logging
import PlainText

/// Shows the results of a fleet's workers in a gallery.
///
/// Events have the ids of the fleet's log, so that a client of one gateway can continue at another.
final class Gateway {
  private let gallery: Gallery
  private let place: RedisAddress
  private let console: Console
  private let log: Logger
  /// Receives the store's error, and `nil` when the store works again.
  private let report: (FleetError?) -> Void
  private var places: [URL: Int] = [:]
  /// The id of the last announced update, which gateways that show the same feeds know, too. Before the first one, the
  /// position after which this gateway reads.
  private var cursor = ""
  private var heard = Date()
  private var isFirst = true

  init(
    _ gallery: Gallery, _ place: RedisAddress, _ console: Console, log: Logger,
    _ report: @escaping (FleetError?) -> Void
  ) {
    self.gallery = gallery
    self.place = place
    self.console = console
    self.log = log
    self.report = report
  }

  func take(_ event: FleetFollower.Event) {
    switch event {
    case .snapshot(let snapshot): take(snapshot)
    case .update(let feed, let logged):
      cursor = "\(logged.cursor)"
      heard = Date()
      if let feed { put(feed) }
      // Announce the entry's own version: a later version has its own entry, which is announced, too.
      gallery.announce(
        "items", about: logged.update.address.shown, updated: logged.update.version.microseconds, id: cursor,
        trace: logged.update.trace)
      WorkTrace.announced(logged.update, log)
      gallery.place.send(cursor)
    case .passed(let cursor):
      heard = Date()
      gallery.place.send("\(cursor)")
    case .list(let list):
      gallery.arrange(list.addresses.map { .init(address: $0, title: nil) }, forgetting: list.forgotten)
      places = Dictionary(list.addresses.enumerated().map { ($1, $0) }) { first, _ in first }
      for feed in list.added { put(feed) }
      gallery.announce("items", id: cursor)
    case .away(let error):
      report(error)
      gallery.put(.saved(heard, reason: "\(error)".printable(limit: 300)))
      gallery.announce("health", id: cursor)
    case .back:
      report(nil)
      heard = Date()
      gallery.put(nil)
      gallery.announce("health", id: cursor)
    }
  }

  private func take(_ snapshot: FleetSnapshot) {
    heard = Date()
    report(nil)
    if snapshot.isCut {
      console.warn(
        "There are more feeds; the first \(snapshot.feeds.count) are shown. Pass URLs to choose others.")
    }
    gallery.begin(with: snapshot.feeds.map { .init(address: $0.address, title: nil) })
    places = [:]
    for (index, one) in snapshot.feeds.enumerated() {
      places[one.address] = index
      if let feed = one.feed { put(feed) }
    }
    let shown = snapshot.history.filter { places[$0.update.address] != nil }
    cursor = "\(shown.last?.cursor ?? snapshot.cursor)"
    if isFirst {
      let history = snapshot.history.map { logged -> Gallery.Change in
        let (update, isShown) = (logged.update, places[logged.update.address] != nil)
        return (update.address.shown, update.version.microseconds, "\(logged.cursor)", update.trace, isShown)
      }
      gallery.announce("items", history)
      for logged in shown { WorkTrace.announced(logged.update, log) }
      // New clients get this id.
      gallery.events.begin(after: cursor)
      // Clients that were already connected have no items yet.
      if gallery.eventClients > 0 { gallery.announce("items", id: cursor) }
    } else {
      console.report("Some changes were missed; all feeds are shown again.")
      gallery.reset(id: cursor)
    }
    isFirst = false
    gallery.place.send("\(snapshot.cursor)")
  }

  private func put(_ feed: FleetFeed) {
    let index = places[feed.address] ?? gallery.add(.init(address: feed.address, title: nil))
    places[feed.address] = index
    let images = feed.images
    let (origin, date) = Self.origin(of: feed, images, shown: gallery.sources[index], heard: heard)
    gallery.put(images, of: index, at: date, origin)
  }

  /// The origin and the date of the images to show: those of the feed, or else those that are shown already.
  static func origin(
    of feed: FleetFeed, _ images: FeedImages?, shown: Gallery.Source, heard: Date
  ) -> (Gallery.Origin, Date) {
    let health = feed.record.health
    // The images are damaged, or too large to be read.
    let isUnreadable = feed.version != nil && images == nil
    let date = (isUnreadable ? shown.checked : feed.version?.date) ?? heard
    if health.failures == 0 && !isUnreadable { return (.server, date) }
    let reason = health.failures > 0 ? health.outcome.printable(limit: 300) : "the saved images can't be read"
    if feed.version == nil || isUnreadable && shown.images.isEmpty { return (.nowhere(reason: reason), date) }
    return (.saved(date, reason: reason), date)
  }
}
