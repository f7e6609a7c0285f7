import FeedHTTPServer
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// The page's contents: the feeds, their state, and their images, the latest first.
final class Gallery {
  /// The most pictures of one feed.
  static let mostImages = 2_000

  private(set) var sources: [Source]
  /// Counts what changed.
  private(set) var version = 0
  let started = Date()
  private(set) var changed = Date()
  let events: HTTPServer.EventLog
  /// The parts that servers on other loops need.
  let shared: Shared?
  /// The id of the last event, of a gallery whose events others have, too: a client that was told more elsewhere waits for that.
  /// `nil` until the first is known, empty for a gallery that is the only one.
  let place: CurrentValueSubject<String?, Never>
  let every: Duration
  private let now: () -> Date
  let secret: [UInt8]
  private var sorted: [Entry]?
  /// Tells this run from an earlier one.
  let run = String(UInt32.random(in: 0...UInt32.max), radix: 36)
  private var pictures: [String: Named] = [:]
  /// Entries that no feed has any more and that were asked for, and their images, by their keys.
  var past: (entries: [String: Entry], pictures: [String: Named]) = ([:], [:])
  /// The marks of each feed's images.
  var marks: [URL: FeedHistory.Visit] = [:]
  /// The facts about images that were decoded, by their keys.
  var facts: [String: ImageFacts] = [:]
  /// Delivers a value whenever the images of a feed have changed.
  let news = PassthroughSubject<Void, Never>(of: "Gallery")

  /// - Parameter secret: what images are named with.
  init(
    _ names: [Name], every: Duration, secret: [UInt8] = PageSecret.random(), isShared: Bool = false,
    sharing shared: Shared? = nil, on scheduler: any LoopScheduler, now: @escaping () -> Date = Date.init
  ) {
    place = CurrentValueSubject(isShared ? nil : "")
    sources = names.map(Source.init)
    self.secret = secret
    self.every = every
    self.now = now
    self.shared = shared
    events = shared.map { HTTPServer.EventLog(of: $0.events, on: scheduler) } ?? HTTPServer.EventLog(on: scheduler)
    events.snapshot = { [unowned self] in status }
    shared?.status.value = status
  }

  /// All images, the latest first; those of one date as their feed has them.
  var entries: [Entry] {
    if let sorted { return sorted }
    let all = sources.flatMap(\.entries).sorted {
      ($1.rank, $0.position, $0.source) < ($0.rank, $1.position, $1.source)
    }
    sorted = all
    return all
  }

  /// The URL of an image that is in a feed now, and the feeds that name it.
  func picture(_ key: String) -> Named? { pictures[key] ?? past.pictures[key] }

  /// Shows other feeds than before, which somebody else polls.
  func begin(with names: [Name]) {
    (sources, pictures, sorted) = ([], [:], nil)
    for name in names { add(name) }
    version += 1
  }

  /// Shows other feeds than before; those that stay keep what is known of them, unless that is to be forgotten.
  func arrange(_ names: [Name], forgetting forgotten: Set<URL>) {
    let olds = Dictionary(sources.map { ($0.address, $0) }) { first, _ in first }
    sources = names.enumerated().map { index, name in
      guard var source = olds[name.address], !forgotten.contains(name.address) else { return Source(name) }
      for place in source.entries.indices { source.entries[place].source = index }
      return source
    }
    namePictures()
    sorted = nil
  }

  /// Shows other feeds than before, and says so; those that stay keep what is known of them, and get their new names.
  func follow(_ names: [Name]) {
    arrange(names, forgetting: [])
    for (index, name) in names.enumerated() { sources[index].rename(to: name) }
    version += 1
    changed = now()
    send("items")
  }

  /// Adds a feed that somebody else polls.
  ///
  /// - Returns: its place.
  @discardableResult func add(_ name: Name) -> Int {
    sources.append(Source(name))
    return sources.count - 1
  }

  /// Takes what another process has found out about a feed; `nil` when nothing is saved of it.
  func put(_ images: FeedImages?, of index: Int, at date: Date, _ origin: Origin) {
    sources[index].checks += 1
    sources[index].checked = date
    (sources[index].origin, sources[index].usual) = (origin, origin)
    sources[index].noteTrouble(at: now())
    if let images, images != sources[index].images { show(images, of: index, at: date) }
  }

  /// The present origin of the images: of all, or of each as before.
  func put(_ origin: Origin?) {
    for index in sources.indices {
      sources[index].origin = origin ?? sources[index].usual
      sources[index].noteTrouble(at: now())
    }
    sorted = nil
  }

  /// Says that something has changed, in an event of this id.
  func announce(_ name: String, about feed: String? = nil, updated: Int64? = nil, id: String) {
    announce(name, [(feed, updated, id)])
  }

  /// Says what has changed, in an event each: a long history is told while little else is the same.
  func announce(_ name: String, _ changes: [(feed: String?, updated: Int64?, id: String)]) {
    changed = now()
    var status = present
    if let shared {
      status.version += changes.count
      shared.status.value = encoded(status)
    }
    for change in changes {
      version += 1
      (status.version, status.feed, status.updated) = (version, change.feed, change.updated)
      events.send(encoded(status), name: name, id: change.id)
    }
  }

  /// Shows this result of a feed from now on.
  func take(_ result: FeedResult, from index: Int) {
    let before = sources[index]
    let date = now()
    sources[index].take(result)
    if case .success(let feed) = result {
      let isSame =
        feed.images == before.images && feed.images.isFromPrivateNetwork == before.images.isFromPrivateNetwork
      if !isSame || !before.isKnown { show(feed.images, of: index, at: date) }
    }
    sources[index].noteTrouble(at: date)
    let hasNews = sources[index].images != before.images
    guard hasNews || sources[index].trouble != before.trouble || before.isLoading else { return }
    version += 1
    changed = date
    send(hasNews ? "items" : "health")
  }

  /// A feed was requested. What that changed, if anything, was taken before.
  func noteCheck(of index: Int) {
    sources[index].checks += 1
    sources[index].checked = now()
    if sources[index].trouble != nil { sources[index].failures += 1 }
    guard case .kept = sources[index].origin else { return }
    sources[index].origin = .server
    version += 1
    send("health")
  }

  private func show(_ images: FeedImages, of index: Int, at date: Date) {
    let isFirst = !sources[index].isKnown
    sources[index].isKnown = true
    sources[index].images = images
    if !sources[index].isNamed, let title = images.title, !title.isEmpty {
      sources[index].name = title.printable(limit: 100)
    }
    let entries = sources[index].entries
    let olds = Dictionary(entries.map { ($0.id + $0.picture.absoluteString, $0) }) { first, _ in first }
    sources[index].entries = images.prefix(Self.mostImages).enumerated().map { position, image in
      let url = image.url
      let old = olds["\(image.id)" + url.absoluteString]
      let known = image.published ?? old?.date
      let isNew = old == nil && !isFirst
      return Entry(
        key: old?.key ?? key(url), card: old?.card ?? card("\(image.id)", url, of: index), id: "\(image.id)",
        imageID: image.id, source: index,
        description: image.caption, location: image.location, post: image.post, picture: url,
        others: others(of: image.post, but: url),
        date: known ?? (isNew ? date : nil),
        rank: known ?? old?.rank ?? (isNew ? date : .distantPast), position: position)
    }
    // Another feed may show the same image.
    namePictures()
    sorted = nil
    news.send(())
  }

  /// Notes which feeds name each image.
  private func namePictures() {
    pictures.removeAll(keepingCapacity: true)
    for source in sources {
      let feed = Named.Feed(address: source.address, isPrivate: source.images.isFromPrivateNetwork)
      for image in source.entries.lazy.flatMap(\.images) {
        var named = pictures[image.key] ?? Named(url: image.url)
        named.add(feed)
        pictures[image.key] = named
      }
    }
  }

  /// With the secret, so that no feed can make two pictures of one name.
  func key(_ url: URL) -> String {
    let bytes = secret + Array(url.absoluteString.utf8)
    let halves = [BodyDigest(bytes), BodyDigest(bytes.reversed())]
    return halves.map { String($0.value, radix: 16) }.joined(separator: "-")
  }

  func card(_ id: String, _ url: URL, of index: Int) -> String {
    let text = "\(sources[index].address.absoluteString) \(id) \(url.absoluteString)"
    return String(BodyDigest(secret + Array(text.utf8)).value, radix: 36)
  }
}
