import FeedHTTPServer
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// The page's contents: the feeds, their state, and their pictures, the latest first.
final class Gallery {
  /// A feed to follow.
  struct Name {
    let address: URL
    let title: String?
    /// How often it is requested at most, if its list says so.
    var interval: Duration?
    /// The folders that it is in, the outermost first.
    var folders: [String] = []
  }

  /// Where a feed's pictures are from.
  enum Origin {
    case loading
    case server
    /// The saved feed, because it is not time to ask the server again.
    case kept(Date, reason: String)
    case saved(Date, reason: String)
    /// The part that arrived of a feed that is cut off, since nothing is saved.
    case part(reason: String)
    case nowhere(reason: String)
  }

  struct Source {
    let address: URL
    /// The name that a list gave it, or else its own, or that of its host.
    fileprivate(set) var name: String
    /// The folders that it is in, the outermost first.
    fileprivate(set) var folders: [String]
    fileprivate var isNamed: Bool
    /// True when it has been there once: what comes from then on is new.
    fileprivate var isKnown = false
    fileprivate(set) var origin = Origin.loading
    fileprivate(set) var entries: [Entry] = []
    fileprivate(set) var images: FeedImages = []
    fileprivate(set) var checked: Date?
    fileprivate(set) var checks = 0
    fileprivate(set) var failures = 0
    /// That of a feed that somebody else polls, while nothing is wrong with whom it is heard of from.
    fileprivate(set) var usual = Origin.server
    /// When it failed for the first time after it was all right, as far as this run knows; `nil` while it does not fail.
    fileprivate(set) var failingSince: Date?
    /// True when its server answers with something that is not the feed.
    fileprivate(set) var answers = false

    fileprivate init(_ name: Name) {
      let port = name.address.port.map { ":\($0)" } ?? ""
      let title = name.title ?? name.address.host.map { $0 + port } ?? name.address.absoluteString
      (address, isNamed, folders) = (name.address, name.title != nil, name.folders)
      self.name = title.printable(limit: 100)
    }

    /// Takes the name and the folders that a list gives it now; without a name, the next load names it.
    fileprivate mutating func rename(to name: Name) {
      (isNamed, folders) = (name.title != nil, name.folders)
      if let title = name.title { self.name = title.printable(limit: 100) }
    }

    /// True until there is something to show, or a reason why not.
    var isLoading: Bool { if case .loading = origin { true } else { false } }

    /// True for what arrived of a feed that is cut off.
    var isPart: Bool { if case .part = origin { true } else { false } }

    /// Notes since when it fails.
    fileprivate mutating func noteTrouble(at date: Date) {
      failingSince = trouble == nil ? nil : failingSince ?? date
      if trouble == nil { answers = false }
    }

    /// Why there is nothing from its server, if so.
    var trouble: String? {
      switch origin {
      case .loading, .server, .kept: nil
      case .saved(_, let reason), .part(let reason), .nowhere(let reason): reason
      }
    }
  }

  /// One picture on the page.
  struct Entry {
    /// Names the picture in addresses of this page.
    let key: String
    /// Names its place on the page: one picture may occur in several feeds, or twice in one.
    let card: String
    let id: String
    let imageID: FeedImage.ID
    fileprivate(set) var source: Int
    /// The caption: see `FeedImage.caption`.
    let description: String?
    let location: String?
    /// The item's title, text, link and other images.
    let post: FeedImage.Post
    let picture: URL
    /// When it was published, or else when it arrived here; `nil` for one that was there from the beginning, of which nobody
    /// says how old it is.
    let date: Date?
    /// The key that it is sorted by: a picture that was there from the beginning and has no date comes last.
    fileprivate let rank: Date
    /// Where it is in its feed.
    fileprivate let position: Int
  }

  /// The most pictures of one feed.
  static let mostImages = 2_000

  private(set) var sources: [Source]
  /// Counts what changed.
  private(set) var version = 0
  let started = Date()
  private(set) var changed = Date()
  let events: HTTPServer.EventLog
  /// The id of the last event, of a gallery whose events others have, too: a client that was told more elsewhere waits for that.
  /// `nil` until the first is known, empty for a gallery that is the only one.
  let place: CurrentValueSubject<String?, Never>
  let every: Duration
  private let now: () -> Date
  private let secret: [UInt8]
  private var sorted: [Entry]?
  /// Tells this run from an earlier one.
  let run = String(UInt32.random(in: 0...UInt32.max), radix: 36)
  private var pictures: [String: Named] = [:]
  /// Entries that no feed has any more and that were asked for, and their pictures, by their keys.
  private var past: (entries: [String: Entry], pictures: [String: Named]) = ([:], [:])
  /// The marks of each feed's images.
  private var marks: [URL: FeedHistory.Visit] = [:]

  /// - Parameter secret: what pictures are named with.
  init(
    _ names: [Name], every: Duration, secret: [UInt8] = PageSecret.random(), isShared: Bool = false,
    on scheduler: any LoopScheduler, now: @escaping () -> Date = Date.init
  ) {
    place = CurrentValueSubject(isShared ? nil : "")
    sources = names.map(Source.init)
    self.secret = secret
    self.every = every
    self.now = now
    events = HTTPServer.EventLog(on: scheduler)
    events.snapshot = { [unowned self] in status }
  }

  /// All pictures, the latest first; those of one date as their feed has them.
  var entries: [Entry] {
    if let sorted { return sorted }
    let all = sources.flatMap(\.entries).sorted {
      ($1.rank, $0.position, $0.source) < ($0.rank, $1.position, $1.source)
    }
    sorted = all
    return all
  }

  /// The address of a picture that is in a feed now, and the feeds that name it.
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
    events.send(status, name: "items")
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

  /// Where the pictures are from now: all of them, or each as before.
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
    switch result {
    case .success(let feed):
      switch feed.source {
      case .remote: sources[index].origin = .server
      case .cache(let savedAt, _, .notDue(let due, let reason)):
        let words = "\(RemoteFeedError.notDue(until: due, reason))".printable(limit: 300)
        sources[index].origin = .kept(savedAt, reason: words)
      case .cache(let savedAt, _, let reason):
        sources[index].origin = .saved(savedAt, reason: "\(reason)".printable(limit: 300))
        sources[index].answers = reason.isAnswer
      case .part(let reason): sources[index].origin = .part(reason: "\(reason)".printable(limit: 300))
      }
      let isSame =
        feed.images == before.images && feed.images.isFromPrivateNetwork == before.images.isFromPrivateNetwork
      if !isSame || !before.isKnown { show(feed.images, of: index, at: date) }
    case .failure(let error):
      sources[index].origin = .nowhere(reason: "\(error)".printable(limit: 300))
      sources[index].answers = error.remote.isAnswer
    }
    sources[index].noteTrouble(at: date)
    let hasNews = sources[index].images != before.images
    guard hasNews || sources[index].trouble != before.trouble || before.isLoading else { return }
    version += 1
    changed = date
    events.send(status, name: hasNews ? "items" : "health")
  }

  /// A feed was requested. What that changed, if anything, was taken before.
  func noteCheck(of index: Int) {
    sources[index].checks += 1
    sources[index].checked = now()
    if sources[index].trouble != nil { sources[index].failures += 1 }
    guard case .kept = sources[index].origin else { return }
    sources[index].origin = .server
    version += 1
    events.send(status, name: "health")
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
        date: known ?? (isNew ? date : nil),
        rank: known ?? old?.rank ?? (isNew ? date : .distantPast), position: position)
    }
    // Another feed may show the same picture.
    namePictures()
    sorted = nil
  }

  /// Notes which feeds name each picture.
  private func namePictures() {
    pictures.removeAll(keepingCapacity: true)
    for source in sources {
      let feed = Named.Feed(address: source.address, isPrivate: source.images.isFromPrivateNetwork)
      for entry in source.entries {
        var named = pictures[entry.key] ?? Named(url: entry.picture)
        named.add(feed)
        pictures[entry.key] = named
      }
    }
  }

  /// With the secret, so that no feed can make two pictures of one name.
  private func key(_ url: URL) -> String {
    let bytes = secret + Array(url.absoluteString.utf8)
    let halves = [BodyDigest(bytes), BodyDigest(bytes.reversed())]
    return halves.map { String($0.value, radix: 16) }.joined(separator: "-")
  }

  private func card(_ id: String, _ url: URL, of index: Int) -> String {
    let text = "\(sources[index].address.absoluteString) \(id) \(url.absoluteString)"
    return String(BodyDigest(secret + Array(text.utf8)).value, radix: 36)
  }

  // MARK: - History

  /// How many entries of the past are remembered.
  private static let mostPast = 10_000

  /// The entry of an image that one of the feeds has or had; `nil` for one of another feed.
  func entry(_ seen: SeenImage) -> Entry? {
    guard let index = sources.firstIndex(where: { $0.address == seen.address }) else { return nil }
    let (id, url) = ("\(seen.image.id)", seen.image.url)
    let card = card(id, url, of: index)
    if seen.isStarred { star(true, seen.image.id, of: seen.address) }
    if let entry = sources[index].entries.first(where: { $0.card == card }) { return entry }
    if past.entries.count >= Self.mostPast { past = ([:], [:]) }
    let entry = Entry(
      key: key(url), card: card, id: id, imageID: seen.image.id, source: index, description: seen.image.caption,
      location: seen.image.location, post: seen.image.post, picture: url, date: seen.image.published ?? seen.firstSeen,
      rank: seen.image.published ?? seen.firstSeen, position: 0)
    past.entries[card] = entry
    var named = past.pictures[entry.key] ?? Named(url: url)
    named.add(Named.Feed(address: seen.address, isPrivate: seen.isFromPrivateNetwork))
    past.pictures[entry.key] = named
    return entry
  }

  /// The entry that a card shows.
  func entry(card: String) -> Entry? {
    past.entries[card] ?? sources.lazy.flatMap(\.entries).first { $0.card == card }
  }

  func mark(_ address: URL, _ visit: FeedHistory.Visit) {
    marks[address, default: FeedHistory.Visit()].new.formUnion(visit.new)
    marks[address]?.stars = visit.stars
  }

  /// A visit begins: what was new in the last one is not new any more.
  func forgetNew() { for address in marks.keys { marks[address]?.new = [] } }

  func star(_ isStarred: Bool, _ id: FeedImage.ID, of address: URL) {
    if isStarred {
      marks[address, default: FeedHistory.Visit()].stars.insert(id)
    } else {
      marks[address]?.stars.remove(id)
    }
  }

  /// Those of the latest that are new since the last visit.
  var newEntries: [Entry] { entries.filter(isNew) }

  func isNew(_ entry: Entry) -> Bool { marks[sources[entry.source].address]?.new.contains(entry.imageID) ?? false }
  func isStarred(_ entry: Entry) -> Bool {
    marks[sources[entry.source].address]?.stars.contains(entry.imageID) ?? false
  }
}

extension RemoteFeedError {
  /// True when a response arrived.
  fileprivate var isAnswer: Bool { if case .invalidData = self { true } else { false } }
}
