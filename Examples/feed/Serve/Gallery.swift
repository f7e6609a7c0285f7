import FeedHTTPServer
import FeedPolling
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// The page's contents: the feeds, their state, and their images, latest first.
final class Gallery {
  /// The maximum number of images of one feed.
  static let mostImages = 2_000

  private(set) var sources: [Source]
  /// The number of changes so far.
  private(set) var version = 0
  let started = Date()
  private(set) var changed = Date()
  let events: EventLog
  /// The parts that servers on other loops need.
  let shared: Shared?
  /// The id up to which this process has read the events. If other processes have the same events, a client that has
  /// already received a later event from one of them waits here for that event. `nil` until the first id is known;
  /// empty if there are no other processes.
  let place: CurrentValueSubject<String?, Never>
  /// The time between two loads of a feed that doesn't have its own interval; `nil` if other processes load the feeds.
  let every: Duration?
  private let now: () -> Date
  let secret: [UInt8]
  private var sorted: [Entry]?
  /// Distinguishes this run from earlier ones.
  let run = String(UInt32.random(in: 0...UInt32.max), radix: 36)
  private var imagesByKey: [String: Named] = [:]
  /// Entries that were shown or requested, but that no feed lists anymore.
  var past = Past()
  /// The marks of each feed's images.
  var marks: [URL: FeedHistory.Visit] = [:]
  /// The facts about images that were decoded, by their keys.
  var facts: [String: ImageFacts] = [:]
  /// The number of polls by this process, by outcome.
  var polls: [PollOutcome: Int] = [:]
  /// Delivers a value whenever the images of a feed have changed.
  let news = PassthroughSubject<Void, Never>(of: "Gallery")

  /// - Parameter secret: the key from which the names of images are made.
  init(
    _ names: [Name], every: Duration?, secret: [UInt8] = PageSecret.random(), isShared: Bool = false,
    sharing shared: Shared? = nil, on scheduler: any LoopScheduler, now: @escaping () -> Date = Date.init
  ) {
    place = CurrentValueSubject(isShared ? nil : "")
    sources = names.map(Source.init)
    self.secret = secret
    self.every = every
    self.now = now
    self.shared = shared
    events = shared.map { EventLog(of: $0.events, on: scheduler) } ?? EventLog(on: scheduler)
    events.snapshot = { [unowned self] in status }
    shared?.status.value = status
  }

  /// All images, latest first; images with the same date are in the order of their feed.
  var entries: [Entry] {
    if let sorted { return sorted }
    let all = sources.flatMap(\.entries).sorted {
      ($1.rank, $0.position, $0.source) < ($0.rank, $1.position, $1.source)
    }
    sorted = all
    return all
  }

  /// The URL of an image that a feed lists now, or that was requested before, and the feeds that list it.
  func image(_ key: String) -> Named? { imagesByKey[key] ?? past.images[key] }

  /// Replaces the feeds; another process polls the new ones.
  func begin(with names: [Name]) {
    (sources, imagesByKey, sorted) = ([], [:], nil)
    for name in names { add(name) }
    placePast()
    version += 1
  }

  /// Replaces the feeds. Feeds that stay keep their state, except those in `forgotten`.
  func arrange(_ names: [Name], forgetting forgotten: Set<URL>) {
    let olds = Dictionary(sources.map { ($0.address, $0) }) { first, _ in first }
    sources = names.enumerated().map { index, name in
      guard var source = olds[name.address], !forgotten.contains(name.address) else { return Source(name) }
      for place in source.entries.indices { source.entries[place].source = index }
      return source
    }
    nameImages()
    placePast(forgetting: forgotten)
    sorted = nil
  }

  /// Replaces the feeds, and announces the change. Feeds that stay keep their state, and get their new names.
  func follow(_ names: [Name]) {
    arrange(names, forgetting: [])
    for (index, name) in names.enumerated() { sources[index].rename(to: name) }
    version += 1
    changed = now()
    send("items")
  }

  /// Adds a feed that another process polls.
  ///
  /// - Returns: its position.
  @discardableResult func add(_ name: Name) -> Int {
    sources.append(Source(name))
    return sources.count - 1
  }

  /// Shows the images that another process has found in a feed; `nil` if nothing is saved.
  func put(_ images: FeedImages?, of index: Int, at date: Date, _ origin: Origin) {
    sources[index].checks += 1
    sources[index].checked = date
    (sources[index].origin, sources[index].usual) = (origin, origin)
    sources[index].noteTrouble(at: now())
    guard let images else { return }
    sources[index].takeTitle(of: images)
    if images != sources[index].images { show(images, of: index, at: date) }
  }

  /// Sets the origin of all feeds; if the origin is `nil`, restores each feed's own origin.
  func put(_ origin: Origin?) {
    for index in sources.indices {
      sources[index].origin = origin ?? sources[index].usual
      sources[index].noteTrouble(at: now())
    }
    sorted = nil
  }

  typealias Change = (feed: String?, updated: Int64?, id: String, trace: String?, isShown: Bool)

  /// Announces a change, in an event with this id.
  func announce(_ name: String, about feed: String? = nil, updated: Int64? = nil, id: String, trace: String? = nil) {
    announce(name, [(feed, updated, id, trace, true)])
  }

  /// Announces changes, each in its own event. This is faster than separate calls, because the status is created only
  /// once. For a change that isn't shown, only the id becomes known.
  func announce(_ name: String, _ changes: [Change]) {
    changed = now()
    var status = present
    if let shared {
      status.version += changes.count { $0.isShown }
      shared.status.value = encoded(status)
    }
    for change in changes {
      guard change.isShown else {
        events.begin(after: change.id)
        continue
      }
      version += 1
      (status.version, status.feed, status.updated, status.trace) = (version, change.feed, change.updated, change.trace)
      events.send(encoded(status), name: name, id: change.id)
    }
  }

  /// Shows a new result of a feed.
  func take(_ result: FeedResult, from index: Int) {
    let before = sources[index]
    let date = now()
    sources[index].take(result)
    if case .success(let feed) = result {
      let isSame =
        feed.images == before.images && feed.images.isFromPrivateNetwork == before.images.isFromPrivateNetwork
      sources[index].takeTitle(of: feed.images)
      if !isSame || !before.isKnown { show(feed.images, of: index, at: date) }
    }
    sources[index].noteTrouble(at: date)
    let hasNews = sources[index].images != before.images || sources[index].name != before.name
    guard hasNews || sources[index].trouble != before.trouble || before.isLoading else { return }
    version += 1
    changed = date
    send(hasNews ? "items" : "health")
  }

  /// Counts a request for a feed. If the result changed anything, the change has already been shown.
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
    let wasPrivate = sources[index].images.isFromPrivateNetwork
    sources[index].isKnown = true
    sources[index].images = images
    let entries = sources[index].entries
    let olds = Dictionary(entries.map { ($0.id + $0.imageURL.absoluteString, $0) }) { first, _ in first }
    var counts: [String: Int] = [:]
    sources[index].entries = images.prefix(Self.mostImages).enumerated().map { position, image in
      let url = image.url
      let old = olds["\(image.id)" + url.absoluteString]
      let known = image.published ?? old?.date
      let isNew = old == nil && !isFirst
      // A feed may list the same item twice.
      let name = old?.card ?? card("\(image.id)", url, of: index)
      let count = counts[name, default: 0] + 1
      counts[name] = count
      return Entry(
        key: old?.key ?? key(url), card: count == 1 ? name : "\(name)-\(count)", id: "\(image.id)",
        imageID: image.id, feed: sources[index].address, source: index,
        description: image.caption, location: image.location, post: image.post, imageURL: url,
        others: others(of: image.post, but: url),
        date: known ?? (isNew ? date : nil),
        rank: known ?? old?.rank ?? (isNew ? date : .distantPast), position: position)
    }
    // Open pages and feed readers still use the cards and images of items that the feed no longer lists. The latest are
    // added last, so that they are kept longest.
    let cards = Set(sources[index].entries.map(\.card))
    for entry in entries.reversed() where !cards.contains(entry.card) { past.add(entry, isPrivate: wasPrivate) }
    nameImages(of: index, insteadOf: entries)
    sorted = nil
    news.send(())
  }

  /// Records which feeds list each image.
  private func nameImages() {
    imagesByKey.removeAll(keepingCapacity: true)
    for index in sources.indices { nameImages(of: index, insteadOf: []) }
  }

  /// Records that a feed lists its images, and not those of its former entries.
  private func nameImages(of index: Int, insteadOf former: [Entry]) {
    let source = sources[index]
    for image in former.lazy.flatMap(\.images) {
      imagesByKey[image.key]?.remove(source.address)
      if imagesByKey[image.key]?.feeds.isEmpty == true { imagesByKey[image.key] = nil }
    }
    let feed = Named.Lister(address: source.address, isPrivate: source.images.isFromPrivateNetwork)
    for image in source.entries.lazy.flatMap(\.images) {
      imagesByKey[image.key, default: Named(url: image.url)].add(feed)
    }
  }

  /// The name of an image, made with the secret, so that a feed can't choose URLs whose names collide.
  func key(_ url: URL) -> String {
    let bytes = secret + Array(url.absoluteString.utf8)
    let halves = [BodyDigest(bytes), BodyDigest(bytes.reversed())]
    return halves.map { String($0.value, radix: 16) }.joined(separator: "-")
  }

  func card(_ id: String, _ url: URL, of index: Int) -> String {
    let text = "\(sources[index].address.absoluteString) \(id) \(url.absoluteString)"
    return digest(of: text)
  }

  /// A digest made with the secret.
  func digest(of text: String) -> String { BodyDigest(secret + Array(text.utf8)).text }
}
